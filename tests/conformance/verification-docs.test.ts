// spec-kind: docs
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import {
  CreateVerificationBody,
  LOCKOUT,
  RATES,
  TENANT_SETTINGS_DEFAULTS,
  TenantSettings,
  VERIFICATION_LIMITS,
  VERIFICATION_TEST_OUTCOMES,
  VerificationWebhook,
} from '@ostiary/contract'

const page = readFileSync(new URL('../../docs/api/verification.md', import.meta.url), 'utf8')
const text = page.replace(/\s+/g, ' ')

/** The part under a heading, up to the next one of its rank or above. */
function part(heading: string): string {
  const from = page.indexOf(`${heading}\n`)
  assert.ok(from >= 0, `there is no part ${heading}`)
  const rank = heading.indexOf(' ')
  const rest = page.slice(from + heading.length)
  const to = rest.search(new RegExp(`^#{1,${rank}} `, 'm'))
  return to < 0 ? rest : rest.slice(0, to)
}

test('[D-019] the document, and the field’s own description, say that desktop use is less secure than mobile', () => {
  assert.match(part('## Desktops'), /Desktop use is less secure than mobile/)
  assert.match(
    part('## Create: `POST /v2/verification-session`'),
    /`enableDesktop`.*Desktop is less secure than mobile/,
  )
  assert.match(JSON.stringify(CreateVerificationBody.properties.enableDesktop), /less secure/)
})

test('[X-008] the document of area D says what each recommendation means and that it is the primary field', () => {
  assert.match(
    text,
    /`ALLOW` proceed, `REVIEW` have a person look, `BLOCK` deny. It is the primary field for access decisions/,
  )
})

test('[X-021] the document of area D says that webhooks are the only channel for events', () => {
  assert.match(text, /Webhooks are the only channel by which the service tells your server of an event/)
  assert.match(text, /an extension for development, \[the event stream\]/)
})

test('every field of a creation has a row, and every field of the webhook is explained', () => {
  const create = part('## Create: `POST /v2/verification-session`')
  for (const name of Object.keys(CreateVerificationBody.properties)) {
    assert.ok(create.includes(`\`${name}\``), `${name} is not explained`)
  }
  const webhook = part('## The webhook')
  for (const name of Object.keys(VerificationWebhook.properties)) {
    assert.ok(webhook.includes(name), `${name} is not explained`)
  }
})

test('the numbers are those of the contract', () => {
  const locked = part('## Too many failures').replace(/\s+/g, ' ')
  assert.equal(LOCKOUT.failures, 5)
  assert.match(locked, /^ Five failed/)
  assert.match(locked, new RegExp(`within ${LOCKOUT.windowSeconds / 60} minutes`))
  const [first, ...others] = LOCKOUT.waitSeconds
  assert.match(
    locked,
    new RegExp(`\`retryAfter\` ${first}, then ${others.join(', ').replace(/, (\d+)$/, ' and $1')} seconds`),
  )
  const { debugEntries, debugHours, selfieBytes, transactionChars } = VERIFICATION_LIMITS
  assert.match(text, new RegExp(`at most ${debugEntries} entries, for ${debugHours} hours`))
  assert.match(text, new RegExp(`JPEG, at most ${selfieBytes / 1024} KB`))
  assert.match(text, new RegExp(`up to ${transactionChars} characters`))
  for (const outcome of VERIFICATION_TEST_OUTCOMES) assert.ok(page.includes(`\`test:${outcome}\` / \`${outcome}\``))
  const { 'verify-create': create, 'verify-read': read } = RATES
  assert.ok(page.includes(`| create, erase | ${create.live.perSecond} a second | ${create.test.perSecond} |`))
  assert.ok(page.includes(`| read | ${read.live.perSecond} | ${read.test.perSecond} |`))
})

test('what a tenant can set about it stands there with its default', () => {
  const { clientCredentials, signInMatching } = TenantSettings.properties
  for (const value of clientCredentials.enum) assert.ok(part('## Keys and credentials').includes(`\`${value}\``))
  for (const value of signInMatching.enum) {
    const isDefault = value === TENANT_SETTINGS_DEFAULTS.signInMatching
    assert.ok(
      part('## Where the comparison happens').includes(`| \`${value}\`${isDefault ? ' (default)' : ''} |`),
      value,
    )
  }
  assert.equal(TENANT_SETTINGS_DEFAULTS.debugInLive, false)
  assert.match(text, /Live keys may use it only if the tenant's `debugInLive` is set/)
})
