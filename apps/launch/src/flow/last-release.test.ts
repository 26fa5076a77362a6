import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { SealedLog } from '@ostiary/contract'
import { createFlowFixture } from './testing/fixture.ts'

/** A process of the last release refuses what it does not know. */
const UNKNOWN = { status: 400, code: 'VALIDATION_FAILED' }
/** Its session says nothing about entries of the log that travel with other calls. */
const OLD = { eventsTravel: false }
/** Eight times with the version of this page, once with the version before. */
const EVERY_ANSWER = 9

const consentsOf = ({ service }: Awaited<ReturnType<typeof createFlowFixture>>) =>
  service.bodies('consent').map(({ version, locale }) => `${version} ${locale}`)

describe('this page with a service of the last release', () => {
  test('takes the challenge that it gets, names the version before, and offers no extension', async () => {
    const fixture = await createFlowFixture({
      answers: { open: [OLD], consent: Array(EVERY_ANSWER - 1).fill(UNKNOWN), challenge: [UNKNOWN] },
    })
    const { flow, service, reaches } = fixture
    await flow.start()
    flow.actions.cannot(['turn'])
    flow.actions.askMoreTime()
    assert.equal(flow.view().mayExtend, false)
    flow.actions.extend()
    flow.actions.consent(true)
    await reaches('done')
    assert.deepEqual(consentsOf(fixture), [...Array(EVERY_ANSWER - 1).fill('2 ar'), '1 ar'])
    assert.deepEqual(
      service.bodies('challenge').map(({ cannot, pace }) => [cannot, pace]),
      [
        [['turn'], 'slow'],
        [undefined, undefined],
      ],
    )
    assert.ok(!service.paths().includes('extend'))
  })

  test('sends its log in calls of its own, as the page of the last release did', async () => {
    const { service, reaches, agree } = await createFlowFixture({ answers: { open: [OLD] } })
    await agree()
    await reaches('done')
    assert.deepEqual(service.paths(), ['open', 'consent', 'events', 'challenge', 'events', 'submit'])
    for (const path of ['challenge', 'submit'])
      assert.deepEqual(
        service.bodies(path).map(({ events }) => events),
        [undefined],
      )
  })

  test('does so too when only a later call reaches such a process', async () => {
    const { service, reaches, agree } = await createFlowFixture({ answers: { challenge: [UNKNOWN] } })
    await agree()
    await reaches('done')
    assert.deepEqual(service.paths(), ['open', 'consent', 'challenge', 'events', 'challenge', 'events', 'submit'])
    assert.deepEqual(new Set(service.entries().map(({ seq }) => seq)).size, service.entries().length)
  })

  test('seals the capture without the log when such a process cannot read it with the log', async () => {
    const { service, reaches, agree } = await createFlowFixture({
      answers: { submit: [{ status: 400, code: 'INVALID_PAYLOAD' }] },
    })
    await agree()
    await reaches('done')
    assert.deepEqual(service.paths(), ['open', 'consent', 'challenge', 'submit', 'events', 'submit'])
    const [first, second] = (await service.opened()) as { log: SealedLog; nonce: string }[]
    assert.ok(first?.log.events && second)
    const { events: _inside, ...end } = first.log
    assert.deepEqual(second, { ...first, log: end })
    assert.equal(service.entries().at(-1)?.hash, end.hash, 'the service has all of it')
  })

  test('says that the service is busy if it knows no such language, and never names another one', async () => {
    const fixture = await createFlowFixture({ answers: { consent: Array(EVERY_ANSWER).fill(UNKNOWN) } })
    const { flow, service, seen, reaches } = fixture
    fixture.speak('sw')
    await fixture.agree()
    await reaches('problem', { problem: 'busy' })
    assert.deepEqual(consentsOf(fixture), [...Array(EVERY_ANSWER - 1).fill('2 sw'), '1 sw'])
    assert.deepEqual(
      [seen.cameras, service.paths().includes('challenge')],
      [0, false],
      'nothing begins without consent',
    )
    // The upgrade is over, and the user tries again.
    flow.actions.reopen()
    await reaches('welcome', { answering: false })
    flow.actions.consent(true)
    await reaches('done')
    assert.equal(consentsOf(fixture).at(-1), '2 sw')
  })

  test('lets the user go on before the end of the upgrade in a language that both know', async () => {
    const refusals = Array(2 * EVERY_ANSWER - 1).fill(UNKNOWN)
    const fixture = await createFlowFixture({ answers: { consent: refusals } })
    const { flow, reaches } = fixture
    fixture.speak('sw')
    await fixture.agree()
    await reaches('problem', { problem: 'busy' })
    flow.actions.reopen()
    await reaches('welcome', { answering: false })
    fixture.speak('en')
    flow.actions.consent(true)
    await reaches('done')
    assert.deepEqual(consentsOf(fixture).slice(EVERY_ANSWER), [...Array(EVERY_ANSWER - 1).fill('2 en'), '1 en'])
  })

  test('cancels for a user who declines in such a language: nobody has to wait to say no', async () => {
    const fixture = await createFlowFixture({ answers: { consent: Array(EVERY_ANSWER).fill(UNKNOWN) } })
    fixture.speak('sw')
    await fixture.flow.start()
    fixture.flow.actions.consent(false)
    await fixture.reaches('cancelled')
    assert.deepEqual(fixture.service.bodies('cancel').length, 1)
  })
})
