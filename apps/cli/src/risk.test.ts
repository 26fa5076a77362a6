import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { RISK_FLAG_CODES } from '@ostiary/contract'
import { temporaryFolder } from '@ostiary/testkit/temporary-folder'
import { runQuietly } from './testing/run-quietly.ts'

const folder = temporaryFolder('cli-risk')

/** Without any settings: the tables need none. */
const cli = (...args: string[]) => runQuietly(args)

function weights(content: string): string {
  const file = join(folder, 'weights.json')
  writeFileSync(file, content)
  return file
}

test('risk explain shows each flag and what they make together', async () => {
  assert.deepEqual(await cli('risk', 'explain', 'BH_TOO_FAST', 'br_webgl', 'BH_TOO_FAST'), {
    code: 0,
    out: [
      'FLAG         SOURCE      WEIGHT  FLOOR  CAUSE',
      'BR_WEBGL     browser     25      -      WebGL is missing or drawn by software (SwiftShader, llvmpipe).',
      'BH_TOO_FAST  behavioral  50      60     A step was done faster than a person can.',
      '',
      'result: score 63, level HIGH, recommendation REVIEW',
      '  by source: behavioral 60, browser 25 (policy 4)',
    ].join('\n'),
    err: '',
  })
})

test('risk explain shows what other weights would change', async () => {
  const file = weights('{"flags":{"BR_WEBGL":{"weight":0},"BH_TOO_FAST":{"weight":90,"floor":0}},"highBlocks":true}')
  const { code, out, err } = await cli('risk', 'explain', 'BR_WEBGL', 'BH_TOO_FAST', '--weights', file)
  assert.deepEqual([code, err], [0, ''])
  assert.deepEqual(
    out
      .replace(/\+[0-9a-f]{8}/, '+…')
      .replace(file, 'FILE')
      .split('\n'),
    [
      'FLAG         SOURCE      WEIGHT   FLOOR   CAUSE',
      'BR_WEBGL     browser     25 → 0   -       WebGL is missing or drawn by software (SwiftShader, llvmpipe).',
      'BH_TOO_FAST  behavioral  50 → 90  60 → -  A step was done faster than a person can.',
      '',
      'by default: score 63, level HIGH, recommendation REVIEW',
      '  by source: behavioral 60, browser 25 (policy 4)',
      'with FILE: score 90, level CRITICAL, recommendation BLOCK',
      '  by source: behavioral 90, browser 0 (policy 4+…)',
    ],
  )
})

test('risk explain says when a flag does not count because its source is off', async () => {
  const off = await cli('risk', 'explain', 'NW_TOR')
  assert.match(off.out, /^NW_TOR does not count: the source network is off \("sources": \["network"\] turns it on\)$/m)
  assert.match(off.out, /^result: score 0, level LOW, recommendation ALLOW$/m)
  const on = await cli('risk', 'explain', 'NW_TOR', '--weights', weights('{"sources":["network"]}'))
  assert.doesNotMatch(on.out, /does not count/)
  assert.match(on.out, /^with .*: score 30, level MEDIUM, recommendation REVIEW$/m)
  assert.match(on.out, /by source: behavioral 0, browser 0, network 30/)
})

test('risk explain gives the same to programs', async () => {
  const { out } = await cli('risk', 'explain', 'BR_TIMING', '--json')
  assert.deepEqual(JSON.parse(out), {
    flags: [
      {
        code: 'BR_TIMING',
        source: 'browser',
        weight: 30,
        floor: 0,
        privacyTool: false,
        indicator: 'headless.timing',
        cause: 'Timers or animation frames run as no screen would drive them.',
        falsePositive: 'Throttled tabs.',
      },
    ],
    current: {
      score: 30,
      level: 'MEDIUM',
      recommendation: 'REVIEW',
      flags: ['BR_TIMING'],
      signals: { behavioral: { score: 0, flags: [] }, browser: { score: 30, flags: ['BR_TIMING'] } },
      policyVersion: '4',
    },
  })
  const both = JSON.parse((await cli('risk', 'explain', 'BR_TIMING', '--json', '--weights', weights('{}'))).out)
  assert.deepEqual(both.proposed, both.current)
  assert.deepEqual(both.flags[0].proposed, { weight: 30, floor: 0 })
})

test('risk explain refuses what it cannot explain', async () => {
  const refusals: [string[], RegExp][] = [
    [[], /^Name at least one flag/],
    [['BR_NOTHING'], /^There is no flag "BR_NOTHING"/],
    [['constructor'], /^There is no flag "constructor"/],
    [['BR_TIMING', '--weights', join(folder, 'absent.json')], /^--weights: .*absent\.json cannot be read/],
    [['BR_TIMING', '--weights', weights('{')], /^--weights: .* is not JSON/],
  ]
  for (const [args, message] of refusals) {
    const { code, out, err } = await cli('risk', 'explain', ...args)
    assert.deepEqual([code, out], [2, ''], args.join(' '))
    assert.match(err, message)
  }
  const tooHeavy = await cli('risk', 'explain', 'NW_TOR', '--weights', weights('{"flags":{"NW_TOR":{"weight":80}}}'))
  assert.equal(tooHeavy.code, 2)
  assert.match(tooHeavy.err, /^--weights: The risk overrides are not valid: \/flags\/NW_TOR\/weight must be <= 59\n/)
})

test('risk list shows every flag', async () => {
  const { out } = await cli('risk', 'list')
  const lines = out.split('\n')
  assert.equal(lines.length, RISK_FLAG_CODES.length + 1)
  assert.match(lines[1] ?? '', /^BR_WEBDRIVER +browser +80 +85 +The browser says that a program drives it/)
  assert.match(
    lines[RISK_FLAG_CODES.indexOf('NW_TOR') + 1] ?? '',
    /^NW_TOR +network +30 +- +The address is an exit of Tor/,
  )
  const rows = JSON.parse((await cli('risk', 'list', '--json')).out)
  assert.deepEqual(
    [rows.length, rows[0].code, rows[0].indicator],
    [RISK_FLAG_CODES.length, 'BR_WEBDRIVER', 'headless.webdriver'],
  )
})
