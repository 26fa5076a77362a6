import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { LAUNCH_LIMITS, type OpenedSession, type PasskeyOptions, type SealedLog } from '@ostiary/contract'
import { LAUNCH_API, LAUNCH_PATHS } from '@ostiary/contract/paths'
import { openPayload } from '@ostiary/crypto'
import { runFlow, type SimulatedPerson, seededRandom } from '@ostiary/device/simulated'
import { createFaces } from '../biometrics/testing/faces.ts'
import { createAuthenticator } from '../passkeys/testing/authenticator.ts'
import { createVerificationHost } from '../verification/testing/fixture.ts'

const { fixture, host } = await createVerificationHost(
  {},
  { scopes: ['age:write', 'age:read', 'verify:write', 'verify:read'] },
)

const faces = createFaces(29)
/** Long enough for the rate limit to recover after one session: all tests call from one address. */
const BETWEEN_SESSIONS_MS = 15_000

/** Whether a call reaches an older process, by the number of its turn. */
type IsOld = (turn: number) => boolean
const always: IsOld = () => true
const never: IsOld = () => false

/** The log that is named in a sealed payload, as only the service can read it. */
async function logInside(sessionId: string, sealed: string): Promise<SealedLog> {
  const session = await fixture.harness.wire.sessions.service.find(sessionId)
  assert.ok(session && 'progress' in session && session.progress?.sealKey, 'the session has a key')
  const { sealedBytes: maxBytes, inflatedBytes: maxInflatedBytes } = LAUNCH_LIMITS
  const payload = await openPayload(session.progress.sealKey, sealed, { sessionId, maxBytes, maxInflatedBytes })
  return (payload as { log: SealedLog }).log
}

const refused = (code: string) =>
  Response.json({ code, message: 'There is a field that is not known' }, { status: 400 })

/**
 * Counts the calls. Those that reach an older process are answered as that answers: it says nothing about entries that travel, and
 * refuses fields that it does not know, in a body or in a sealed payload, before it looks at anything else.
 */
function recorder(isOld: IsOld) {
  const calls: string[] = []
  const fetching: typeof globalThis.fetch = async (url, init) => {
    const { pathname } = new URL(String(url))
    const old = isOld(calls.length)
    calls.push(pathname.replace(LAUNCH_API, ''))
    const body = JSON.parse(new TextDecoder().decode(init?.body as Uint8Array))
    if (old && pathname !== LAUNCH_PATHS.events && 'events' in body) return refused('VALIDATION_FAILED')
    if (old && 'sealed' in body && (await logInside(body.sessionId, body.sealed)).events)
      return refused('INVALID_PAYLOAD')
    const answer = await fetch(url, init)
    if (!old || pathname !== LAUNCH_PATHS.open) return answer
    const { eventsTravel: _unknown, ...opened } = (await answer.json()) as OpenedSession
    return Response.json(opened)
  }
  return { calls, fetch: fetching }
}

interface Visit {
  isOld?: IsOld
  person: Partial<SimulatedPerson>
}

async function visit(sessionId: string, { isOld = never, person }: Visit) {
  fixture.harness.clock.advance(BETWEEN_SESSIONS_MS)
  const { calls, fetch } = recorder(isOld)
  const { device, clock } = await fixture.newDevice(sessionId, { fetch })
  const { state } = await runFlow(device, { clock, random: seededRandom(1), ageYears: 42, document: {}, ...person })
  return { state, calls }
}

async function ageCheck(body: object, how: Partial<Visit> = {}) {
  const created = await host.call('POST', '/session', {
    redirectUrl: 'https://shop.example/back',
    ageThreshold: 30,
    documentAgeThreshold: 18,
    ...body,
  })
  assert.equal(created.statusCode, 201, created.body)
  const { sessionId, token } = created.json()
  const visited = await visit(sessionId, { person: {}, ...how })
  const { sessionStatus, riskEvaluation, assurance, errors } = (
    await host.call('GET', `/session/${token}/result`)
  ).json()
  return { ...visited, result: { sessionStatus, riskEvaluation, assurance, errors } }
}

async function verify(type: 'ENROLL' | 'SIGN-IN', body: object, how: Visit) {
  const { sessionId } = await host.create(type, body)
  const visited = await visit(sessionId, { ...how, person: { ageYears: null, ...how.person } })
  const { status, errors, riskEvaluation, matchedBy } = await host.webhook(sessionId)
  return { ...visited, result: { status, errors, riskEvaluation, matchedBy } }
}

function newPerson(): Partial<SimulatedPerson> {
  const { hostname, origin } = new URL(fixture.harness.wire.config.launch.url)
  const own = createAuthenticator({ origin, rpId: hostname })
  const passkey = async (asked: PasskeyOptions) =>
    asked.mode === 'create' ? own.create(asked.options) : own.get(asked.options)
  return { vector: faces.person(), passkey }
}

const FACE = { requirements: ['face'] }
const PASSKEY = { requirements: ['face', 'passkey'] }
const ALL = { requirements: ['face', 'identity_document', 'passkey'] }

/** A SIGN-IN needs a person who is enrolled. */
async function signIn(body: object, how: Partial<Visit> = {}) {
  const person = newPerson()
  await verify('ENROLL', body, { person })
  return verify('SIGN-IN', body, { ...how, person })
}

type Run = (how?: Partial<Visit>) => Promise<{ state: string; calls: string[]; result: object }>

const FLOWS: { what: string; run: Run; end: string; now: number; before: number }[] = [
  { what: 'an age check with the face alone', run: (how) => ageCheck(FACE, how), end: 'COMPLETED', now: 4, before: 6 },
  {
    what: 'an age check with face and document',
    run: (how) => ageCheck({ requirements: ['face', 'identity_document'] }, how),
    end: 'COMPLETED',
    now: 6,
    before: 9,
  },
  {
    what: 'an age check with a document alone',
    run: (how) => ageCheck({ requirements: ['identity_document'] }, how),
    end: 'COMPLETED',
    now: 4,
    before: 5,
  },
  {
    what: 'an ENROLL with the face alone',
    run: (how) => verify('ENROLL', FACE, { person: newPerson(), ...how }),
    end: 'SUCCESS',
    now: 4,
    before: 6,
  },
  {
    what: 'an ENROLL with face and passkey',
    run: (how) => verify('ENROLL', PASSKEY, { person: newPerson(), ...how }),
    end: 'SUCCESS',
    now: 6,
    before: 8,
  },
  {
    what: 'an ENROLL with face, document and passkey',
    run: (how) => verify('ENROLL', ALL, { person: newPerson(), ...how }),
    end: 'SUCCESS',
    now: 8,
    before: 11,
  },
  { what: 'a SIGN-IN with the face alone', run: (how) => signIn(FACE, how), end: 'SUCCESS', now: 4, before: 6 },
  { what: 'a SIGN-IN with face and passkey', run: (how) => signIn(PASSKEY, how), end: 'SUCCESS', now: 6, before: 8 },
]

describe('signed calls', () => {
  for (const { what, run, end, now, before: earlier } of FLOWS) {
    test(`${what} takes ${now}, and ${earlier} with a process that does not know that the log travels`, async () => {
      const present = await run()
      assert.deepEqual([present.state, present.calls.length], [end, now], present.calls.join(' '))
      assert.ok(!present.calls.includes('events'))
      const oldProcess = await run({ isOld: always })
      assert.deepEqual([oldProcess.state, oldProcess.calls.length], [end, earlier], oldProcess.calls.join(' '))
      assert.deepEqual(oldProcess.result, present.result, 'the host learns the same')
    })
  }

  test('end well whichever of them reach an older process during an upgrade', async () => {
    const { result } = await ageCheck(FACE)
    for (let pattern = 0; pattern < 32; pattern++) {
      const mixed = await ageCheck(FACE, { isOld: (turn) => ((pattern >> (turn % 5)) & 1) === 1 })
      assert.equal(mixed.state, 'COMPLETED', `${pattern}: ${mixed.calls.join(' ')}`)
      assert.deepEqual(mixed.result, result)
      // One refusal at the most, and then as before.
      assert.ok(mixed.calls.length <= 7, `${pattern}: ${mixed.calls.join(' ')}`)
    }
  })
})
