import assert from 'node:assert/strict'
import { existsSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { startKeyHolder } from '@ostiary/testkit/key-holder'
import { temporaryFolder } from '@ostiary/testkit/temporary-folder'
import { startApi } from './testing/running-api.ts'

const keyHolder = await startKeyHolder({ logName: 'cli-tokens', clusterUrl: process.env.OSTIARY_TEST_CLUSTER ?? '' })
after(() => keyHolder.remove())
const { cli } = await startApi('cli_tokens', {
  KEY_HOLDER_URL: keyHolder.url,
  KEY_HOLDER_KEY: keyHolder.published.serviceKey,
  KEY_HOLDER_CLIENT_KEY: keyHolder.matcherSeed,
})
const folder = temporaryFolder('keep')

for (const templates of ['token', 'token_on_device']) {
  const file = join(folder, `${templates}.json`)
  const simulate = (line: string) => cli(`simulate --create ${line} --keep ${file}`)

  test(`templates ${templates}: simulate enrols by token, and the same device signs in and is verified later`, async () => {
    await cli(`tenants settings Fjord --set templates=${templates}`)
    const enrolled = await simulate(`--type ENROLL --face 42 --customer-id ${templates}`)
    assert.equal(enrolled.code, 0, enrolled.out + enrolled.err)
    assert.match(
      enrolled.out,
      /phone +sends a token \(11316 bytes\) and a probe instead of a vector, and a key share for the key holder\n/,
    )
    assert.ok(!enrolled.out.includes('keeps no key'))
    assert.equal(statSync(file).mode & 0o777, 0o600)
    const found = await simulate('--type SIGN-IN --face 42')
    assert.equal(found.code, 0, found.out + found.err)
    assert.match(found.out, /phone +sends a probe \(56340 bytes\) instead of a vector\n/)
    assert.match(found.out, /outcome +SIGN-IN SUCCEEDED\n/)
    const verified = await simulate(`--type VERIFY --face 42 --customer-id ${templates}`)
    assert.equal(verified.code, 0, verified.out + verified.err)
    const stranger = await simulate('--type SIGN-IN --face 43')
    assert.equal(stranger.code, 3)
  })
}

test('without --keep the device says so, and a later SIGN-IN finds nobody', async () => {
  await cli('tenants settings Fjord --set templates=token')
  const enrolled = await cli('simulate --create --type ENROLL --face 44')
  assert.equal(enrolled.code, 0, enrolled.out + enrolled.err)
  assert.match(enrolled.out, /keeps no key after this session: with --keep <file>/)
  const lost = await cli('simulate --create --type SIGN-IN --face 44')
  assert.equal(lost.code, 3)
  assert.match(lost.out, /reports that no token or probe could be sent: no_hint\n[\s\S]*User not enrolled \(-36\)/)
})

test('a file that is something else is not overwritten', async () => {
  const { code, err } = await cli(`simulate --create --type SIGN-IN --face 42 --keep ${folder}`)
  assert.deepEqual([code, err.split('\n')[0]?.startsWith('--keep must name a file')], [2, true])
  assert.ok(existsSync(folder))
})
