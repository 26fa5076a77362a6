import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { SESSION_CODES } from '@ostiary/contract'
import { createDevice, systemClock } from '@ostiary/device'
import { isOldEnough } from '@ostiary/sdk'
import { AGE_GATE } from './age-gate.ts'
import { startApi } from './testing/running-api.ts'

const { env, cli, client, liveKey } = await startApi('cli')

test('simulate plays an honest person from creation to result, step by step', async () => {
  const { code, out, err } = await cli('simulate --create --seed 7')
  assert.equal(code, 0, err)
  const uuid = '[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}'
  const lines = [
    `Session ${uuid}`,
    '  phone    opens the session',
    '  phone    gives consent',
    '  phone    try 1: is asked to [a-z ]+, [a-z ]+, [a-z ]+',
    '  phone    submits 1[7-9] frames, estimate 3[345]\\.\\d years',
    '',
    'The flow ended: COMPLETED',
    `  then to    http://localhost/age-checked\\?sessionId=${uuid}&flowStatus=COMPLETED`,
    '  verdict    AGE_ABOVE_THRESHOLD, threshold 30',
    '  consent    given, version 2 in en',
    '  risk       LOW 0, ALLOW',
    '  rests on   on-device face age estimation',
  ]
  assert.match(out, new RegExp(`^${lines.join('\n')}$`))
})

test('[P2] simulate --create is the README’s gate for 18: a person of 24 shows a document and passes', async () => {
  const readme = readFileSync(new URL('../../../README.md', import.meta.url), 'utf8')
  assert.ok(readme.includes(JSON.stringify(AGE_GATE).slice(1, -1)))
  const asked = await cli('simulate --create --age 24')
  assert.equal(asked.code, 3)
  assert.match(asked.out, /The flow stands at DOC_ACTIVE\n {2}The session asks for a document/)
  const { result } = JSON.parse((await cli('simulate --create --age 24 --document --json')).out)
  assert.equal(isOldEnough(result), true)
})

test('simulate --json prints the state and the whole result', async () => {
  const { code, out } = await cli('simulate --create --age 20.5 --threshold 25.5 --json')
  const { state, result } = JSON.parse(out)
  assert.equal(code, 0)
  assert.deepEqual([state.flowStatus, state.state, state.attempt, state.errors], ['COMPLETED', 'COMPLETED', 1, []])
  assert.deepEqual([result.status, result.thresholds.ageThreshold], ['AGE_BELOW_THRESHOLD', 25.5])
  assert.deepEqual(result.metadata, { simulated: true })
  assert.deepEqual(result.riskEvaluation.signals.browser, { score: 0, flags: [] })
})

test('simulate --cannot and --pace: another challenge in the same try, a verdict, and what assurance says', async () => {
  const { code, out, err } = await cli('simulate --create --seed 7 --cannot turn,up --pace slow')
  assert.equal(code, 0, err)
  assert.match(out, /phone {4}says: cannot do this: turn, up; needs more time\n/)
  const asked = /try 1: is asked to (.*)/.exec(out)?.[1]?.split(', ') ?? []
  assert.deepEqual([asked.length, [...new Set(asked)].sort()], [4, ['close the eyes for a moment', 'come closer']])
  assert.match(out, /verdict {4}AGE_ABOVE_THRESHOLD.*\n {2}movements {2}only blink, closer\n {2}pace {7}slow$/s)
  const enrolled = await cli('simulate --create --type ENROLL --cannot blink --json')
  assert.deepEqual(JSON.parse(enrolled.out).result.assurance, { movements: ['turn', 'up', 'closer'] })
})

for (const [options, complaint] of [
  ['--cannot turn,nod', /--cannot must name kinds of turn, up, blink, closer/],
  ['--cannot turn,up,blink', /--cannot takes at most 2: 2 kinds of movement must be left/],
  ['--pace fast', /--pace must be one of slow/],
] as const) {
  test(`simulate ${options} is not understood`, async () => {
    const { code, err } = await cli(`simulate --create ${options}`)
    assert.equal(code, 2)
    assert.match(err, complaint)
  })
}

const SEEN: [string, string[], string[]][] = [
  ['still', ['SPOOF'], ['BH_FRAMES_STATIC']],
  ['loop', ['VIDEO_SPOOF'], ['BH_FRAMES_REPEAT']],
  ['recording', ['LIVENESS_INCONCLUSIVE', 'ATTEMPTS_EXCEEDED'], ['BH_CHALLENGE_MISMATCH']],
  ['robot', ['VIDEO_SPOOF'], ['BH_CHALLENGE_LATENCY']],
  ['forged', ['VIDEO_SPOOF'], ['BH_NUMERIC_IMPLAUSIBLE']],
  ['nocapture', ['VIDEO_SPOOF'], ['BH_RESULT_NO_CAPTURE']],
  ['mask', ['SPOOF'], []],
  // The error code depends on --real-time: without it the unknown model is quicker than any real one.
  ['model', [], ['BH_MODEL_MISMATCH']],
]
for (const [spoof, codes, flags] of SEEN) {
  test(`simulate --spoof ${spoof} gets no verdict: ${[...codes, ...flags].join(', ')}`, async () => {
    const { code, out, err } = await cli(`simulate --create --age 60 --spoof ${spoof} --seed 11 --json`)
    assert.equal(code, 3, err)
    const { result } = JSON.parse(out)
    assert.equal(result.status, 'AGE_UNKNOWN')
    const numbers: Record<string, { code: number }> = SESSION_CODES
    for (const name of codes) assert.ok(result.errors.includes(numbers[name]?.code), `${name} in ${result.errors}`)
    for (const flag of flags) assert.ok(result.riskEvaluation.flags.includes(flag), `${result.riskEvaluation.flags}`)
  })
}

test('simulate --spoof replay is refused the second time, and the first capture counts', async () => {
  const { code, out } = await cli('simulate --create --spoof replay --json')
  const { refused, result } = JSON.parse(out)
  assert.deepEqual([code, refused.status, result.status], [0, 409, 'AGE_ABOVE_THRESHOLD'])
})

test('a person may cancel or decline; there is then no verdict', async () => {
  const cancelled = await cli('simulate --create --cancel')
  assert.equal(cancelled.code, 3)
  assert.match(
    cancelled.out,
    /The flow ended: CANCELLED, USER_CANCELLED \(-17\)[\s\S]*verdict +AGE_UNKNOWN, threshold 30/,
  )
  const declined = await cli('simulate --create --decline')
  assert.match(declined.out, /phone +declines consent\n\nThe flow ended: CANCELLED, CONSENT_DECLINED \(-18\)/)
})

test('a desktop has to hand over to a phone, and with --handoff it does', async () => {
  const desktop = await cli('simulate --create --desktop')
  assert.equal(desktop.code, 3)
  assert.match(
    desktop.out,
    /The flow stands at HANDOFF_WAIT, DESKTOP \(-5\)\n {2}The session continues on a phone: --handoff plays one\n/,
  )
  const handed = await cli('simulate --create --handoff')
  assert.equal(handed.code, 0, handed.err)
  assert.match(
    handed.out,
    /desktop +opens the session\n +desktop +shows a QR code and the number (\d\d)\n +phone +opens the session\n +phone +types the number \1\n/,
  )
})

test('a launch URL opens an existing session; a second device and a wrong handoff code are refused', async () => {
  const { launchUrl, token } = await client().age.create({ redirectUrl: 'http://localhost/back', ageThreshold: 30 })
  const opened = await cli(`simulate --launch-url ${launchUrl} --desktop --json`)
  assert.equal(JSON.parse(opened.out).state.role, 'viewer')
  const stranger = await cli(`simulate --launch-url ${launchUrl}`)
  assert.match(stranger.out, /Refused: .+ \(DEVICE_MISMATCH\)$/)
  const wrong = await cli(`simulate --launch-url ${launchUrl}#h=wrong`)
  assert.match(wrong.out, /Refused: .+ \(HANDOFF_REFUSED\)$/)
  assert.equal((await client().age.result(token)).flowStatus, null)
})

test('with the URL of a QR code, --number is the number on the first screen; a wrong one is refused', async () => {
  for (const isRight of [true, false]) {
    const { sessionId } = await client().age.create({ redirectUrl: 'http://localhost/back', ageThreshold: 30 })
    const device = await createDevice({
      ...{ baseUrl: env.OSTIARY_URL ?? '', sessionId, platform: 'desktop' as const, clock: systemClock },
      userAgent: 'Mozilla/5.0 (Windows NT 10.0; Win64; x64)',
    })
    await device.open()
    const { url: scanned, number = assert.fail('no number') } = await device.handoff()
    const typed = isRight ? number : String((Number(number) + 1) % 100).padStart(2, '0')
    const played = await cli(`simulate --launch-url ${scanned} --number ${typed}`)
    if (isRight) assert.equal(played.code, 0, played.out)
    else assert.match(played.out, /Refused: .+ \(HANDOFF_REFUSED\)$/)
  }
  const wrong = await cli('simulate --launch-url http://localhost/?sessionId=x --number 4')
  assert.deepEqual([wrong.code, wrong.err.includes('--number must be two digits')], [2, true])
})

test('in an existing session the device learns the end but not the verdict, and the output says so', async () => {
  const create = (__test: object) =>
    client().age.create({ redirectUrl: 'http://localhost/back', ageThreshold: 30, metadata: { __test } })
  for (const simulated of [{ errors: [1] }, { outcome: 'AGE_UNKNOWN' }, { outcome: 'AGE_ABOVE_THRESHOLD' }]) {
    const { launchUrl } = await create(simulated)
    const { code, out } = await cli(`simulate --launch-url ${launchUrl}`)
    assert.equal(code, 0)
    assert.match(out, /The flow ended: COMPLETED\n.+\n {2}verdict {4}not shown to a device: the host reads it with the/)
  }
  const asked = { redirectURL: 'http://localhost/back', callback: { url: 'https://host.example/hook' } }
  const play = async (transactionID: string) => {
    const { launchUrl } = await client().verification.create({ ...asked, type: 'ENROLL', transactionID })
    return cli(`simulate --launch-url ${launchUrl}`)
  }
  const failed = await play('test:spoof')
  assert.equal(failed.code, 3)
  assert.match(failed.out, /\n {2}outcome {4}FAILED; not shown to a device: the reason$/)
  const enrolled = await play('test:success')
  assert.equal(enrolled.code, 0)
  assert.match(enrolled.out, /\n {2}outcome {4}SUCCESS; not shown to a device: the person$/)
  assert.match((await cli('simulate --help')).out, /With --launch-url: 0 completed as far as the device can see/)
})

test('the command explains what it cannot simulate, and says what to do instead', async () => {
  const said = async (line: string, settings = env) => {
    const { code, err } = await cli(line, settings)
    return [code, err.split('\n')[0]]
  }
  const { OSTIARY_API_KEY: _, ...keyless } = env
  assert.deepEqual(await said('simulate'), [2, 'Give --create, or --launch-url with the URL of a session'])
  assert.deepEqual(await said('simulate --create', { ...env, OSTIARY_API_KEY: liveKey }), [
    2,
    'Simulated people are taken with test keys only: use an ost_test_ key',
  ])
  assert.deepEqual(await said('simulate --create', keyless), [
    2,
    'A session belongs to a tenant: set OSTIARY_API_KEY to a test key, or say --key',
  ])
  assert.deepEqual(await said('simulate --create --age 0'), [2, '--age must be a number of years from 1 to 120'])
  assert.equal((await said('simulate --create --spoof magic'))[0], 2)
  const { err } = await cli('simulate --create --type VERIFY --face 44')
  assert.match(
    err,
    /^Failed: The request is not valid: \/body\/puid [^:]+ \(VALIDATION_FAILED, request [0-9a-f-]+\)$/,
    'the detail is printed only once',
  )
  assert.deepEqual(await said('simulate --launch-url http://127.0.0.1:9/?x=1'), [
    2,
    '--launch-url has no sessionId in its query',
  ])
  const nobody =
    'simulate --launch-url http://127.0.0.1:9/?sessionId=0d4f1c52-7a43-4c1e-9a55-9e0f6a8f8b11 --url http://127.0.0.1:9'
  assert.deepEqual(await said(nobody), [1, 'Failed: http://127.0.0.1:9 does not answer. Is the API running there?'])
})

test('the SDK reads, waits for, lists, cancels and erases sessions', async () => {
  const { age } = client()
  const body = { redirectUrl: 'http://localhost/back', ageThreshold: 30, metadata: { order: 'A-7', paid: true } }
  const created = await age.create(body, { idempotencyKey: 'order-a-7' })
  assert.deepEqual(await age.create(body, { idempotencyKey: 'order-a-7' }), created)
  assert.equal((await age.get(created.token)).state, 'CREATED')
  const ids = async (metadata: Record<string, string | boolean>) => {
    const found: string[] = []
    for await (const { sessionId } of age.all({ metadata, limit: 1 })) found.push(sessionId)
    return found
  }
  assert.deepEqual(await ids({ order: 'A-7', paid: true }), [created.sessionId])
  assert.deepEqual(await ids({ order: 'A-8' }), [])
  const waiting = age.waitForResult(created.token, { timeoutMs: 20_000 })
  assert.equal((await cli(`simulate --launch-url ${created.launchUrl}`)).code, 0)
  assert.equal((await waiting).status, 'AGE_ABOVE_THRESHOLD')
  await assert.rejects(age.cancel(created.token), { code: 'SESSION_NOT_OPEN' })
  await age.erase(created.token)
  await assert.rejects(age.result(created.token), { status: 410 })
  const open = await age.create(body)
  assert.equal((await age.waitForResult(open.token, { timeoutMs: 0 })).flowStatus, null, 'the time was over first')
  assert.equal((await age.cancel(open.token)).flowStatus, 'CANCELLED')
})

test('the SDK finds the webhooks of a session and sends them again', async () => {
  const { webhooks } = client()
  const callback = 'http://127.0.0.1:18999/hook'
  const { out, err } = await cli(`simulate --create --callback ${callback} --json`)
  assert.equal(err, '')
  const { sessionId } = JSON.parse(out).state
  const { items } = await webhooks.list({ sessionId, since: new Date(0) })
  assert.deepEqual(
    items.map(({ event, state, origin }) => [event, state, origin]),
    [['age.session.completed', 'pending', 'http://127.0.0.1:18999']],
  )
  const { id } = items[0] ?? assert.fail()
  assert.deepEqual((await webhooks.get(id)).attemptLog, [])
  assert.equal((await webhooks.replay(id)).id, id)
  assert.deepEqual(await webhooks.replaySince(new Date(0)), { count: 0, continueFrom: null })
})

test('simulate plays ENROLL, and finds the same invented face again at SIGN-IN and VERIFY, and nobody else', async () => {
  const enrolled = await cli('simulate --create --type ENROLL --face 42 --customer-id c-42 --json')
  assert.equal(enrolled.code, 0, enrolled.err)
  const { state, result } = JSON.parse(enrolled.out)
  assert.deepEqual(
    [state.state, state.flowStatus, result.outcome, result.errors],
    ['SUCCESS', 'COMPLETED', 'SUCCEEDED', []],
  )
  const again = JSON.parse((await cli('simulate --create --type ENROLL --face 42 --json')).out).result
  assert.deepEqual([again.puid, again.errors], [result.puid, [{ code: -37, message: 'Already enrolled' }]])

  const found = await cli('simulate --create --type SIGN-IN --face 42')
  assert.equal(found.code, 0, found.err)
  const lines = [
    'The flow ended: COMPLETED',
    '  then to    http://localhost/welcome\\?sessionId=[0-9a-f-]{36}&status=SUCCESS&code=[A-Za-z0-9_-]{43}',
    '  outcome    SIGN-IN SUCCEEDED',
    `  person     ${result.puid}`,
    '  matched by server',
    '  consent    given, version 4 in en',
    '  risk       LOW 0, ALLOW',
  ]
  assert.match(found.out, new RegExp(`\n${lines.join('\n')}$`))
  const stranger = await cli('simulate --create --type SIGN-IN --face 43')
  assert.equal(stranger.code, 3)
  assert.match(stranger.out, /try 3: [\s\S]+outcome {4}SIGN-IN FAILED\n {2}errors {5}User not enrolled \(-36\)\n/)
  assert.equal((await cli(`simulate --create --type VERIFY --face 42 --puid ${result.puid} --json`)).code, 0)
  const other = JSON.parse(
    (await cli('simulate --create --type VERIFY --face 43 --customer-id c-42 --json')).out,
  ).result
  assert.deepEqual([other.status, other.errors], ['FAILED', [{ code: -9, message: 'Face does not match' }]])
})

test('simulate gives an area D session the picture and the age that it asks for, and stops at a passkey', async () => {
  const { verification } = client()
  const asked = {
    type: 'ENROLL',
    redirectURL: 'http://localhost/back',
    callback: { url: 'https://host.example/hook' },
  } as const
  const { launchUrl, sessionId } = await verification.create({ ...asked, sendImages: true, estimateAge: true })
  const played = await cli(`simulate --launch-url ${launchUrl} --face 50 --age 41 --json`)
  assert.equal(played.code, 0, played.out)
  const { estimatedAge = 0 } = await verification.webhook(sessionId)
  assert.ok(estimatedAge >= 39 && estimatedAge <= 43, `${estimatedAge}`)
  const withPasskey = await verification.create({ ...asked, requirements: ['face', 'passkey'] })
  const stands = await cli(`simulate --launch-url ${withPasskey.launchUrl} --face 51`)
  assert.equal(stands.code, 3)
  assert.match(
    stands.out,
    /The flow stands at PASSKEY_ACTIVE\n {2}The session asks for a passkey, and a simulated person has none$/,
  )
  const unknown = await cli('simulate --create --type LOGIN')
  assert.equal(unknown.code, 2)
  assert.match(unknown.err, /^--type must be one of ENROLL, SIGN-IN, VERIFY/)
})
