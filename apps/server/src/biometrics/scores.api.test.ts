import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { describe, test } from 'node:test'
import { HIT_BUDGET } from '@ostiary/contract'
import { createHarness, type Harness } from '../testing/harness.ts'
import { purgeHits } from './hit-counts.ts'
import { between, type Client, createClient, createFaces, feature } from './testing/faces.ts'

const faces = createFaces(47)
const LIVE = { livemode: true, scopes: ['node:*'] as const, usagePlanId: 'unmetered' as const }
const REFUSED = { status: -1, message: 'Too many requests' }
const harness = await createHarness()

async function newTenant(livemode = true) {
  const { tenantId, key, record } = await harness.tenantWithKey({ ...LIVE, scopes: [...LIVE.scopes], livemode })
  return { tenantId, keyId: record.id, client: createClient(harness, key) }
}
const enrol = async (client: Client, face: readonly number[]): Promise<string> =>
  (await client.post('plainEnroll', { features: feature(face) })).body.puid
const predict = (client: Client, face: readonly number[], more: object = {}) =>
  client.post('plainPredict', { features: feature(face), ...more })
/** The recipe "once per visit", as docs/api/biometrics.md has it. */
async function visitsOfTheDocument(): Promise<{ createVisits: () => (nowMs: number, hasFace: boolean) => boolean }> {
  const text = readFileSync(new URL('../../../../docs/api/biometrics.md', import.meta.url), 'utf8')
  const [, code = assert.fail('no recipe')] = /```js\n((?:(?!```)[\s\S])*createVisits[\s\S]*?)```/.exec(text) ?? []
  return import(`data:text/javascript,${encodeURIComponent(code)}`)
}
const alarms = async (level: string): Promise<number> => {
  const name = `ostiary_node_hit_alarms_total{level="${level}"} `
  const line = (await harness.wire.platform.metrics.text()).split('\n').find((one) => one.startsWith(name))
  return Number(line?.slice(name.length) ?? 0)
}

describe('the score of a hit', () => {
  test('[E-013] [E-022] [E-036] is one of three bands, a number, on the plain and on the encrypted routes', async () => {
    const { client } = await newTenant()
    const [face, small] = [faces.person(), faces.person('FACE3_1')]
    await enrol(client, face)
    const scores: number[] = []
    for (const cosine of [0.55, 0.65, 0.67, 0.82, 0.85, 0.95]) {
      scores.push((await predict(client, faces.sample(face, cosine))).body.score)
    }
    assert.deepEqual(scores, [0.5, 0.5, 0.9, 0.9, 0.99, 0.99])
    const sealed = async (op: 'enroll' | 'predict', cosine: number) =>
      (await client.post(op, { features: await client.sealed(op, [faces.sample(small, cosine)]) })).body.score
    assert.equal(await sealed('enroll', 1), 1, 'a new user')
    assert.deepEqual([await sealed('predict', 0.97), await sealed('predict', 0.99)], [0.9, 0.99])
    assert.equal(await sealed('enroll', 0.955), 0.5, 'a user who is enrolled already')
  })

  test('[E-037] in a list people of one band are ordered by puid', async () => {
    const { client } = await newTenant()
    const first = faces.person()
    const second = faces.sample(first, 0.3)
    const puids = [await enrol(client, first), await enrol(client, second)]
    for (const share of [0.49, 0.51]) {
      const { body } = await predict(client, between(first, second, share), { K: 3 })
      const rows = body.PI_list.map(({ puid, score }: { puid: string; score: number }) => ({ puid, score }))
      assert.deepEqual(
        rows,
        puids.toSorted().map((puid) => ({ puid, score: 0.9 })),
      )
    }
  })

  test('a tenant may ask for exact scores', async () => {
    const { tenantId, client } = await newTenant()
    await harness.wire.settings.service.set(tenantId, { nodeScores: 'exact' })
    // As docs/api/biometrics.md gives the formula. Vectors are stored as half floats, so it is not exact.
    const near = (actual: number, slope: number, threshold: number, cosine: number) => {
      const expected = 1 / (1 + Math.exp(-slope * (cosine - threshold)))
      assert.ok(Math.abs(actual - expected) < 0.002, `${actual} is not near ${expected}`)
    }
    const [face, small] = [faces.person(), faces.person('FACE3_1')]
    const other = faces.sample(face, 0.3)
    for (const person of [face, other]) await enrol(client, person)
    for (const cosine of [0.6, 0.8, 0.98])
      near((await predict(client, faces.sample(face, cosine))).body.score, 13.7, 0.5, cosine)
    const probe = between(face, other, 0.6)
    const scores = (await predict(client, probe, { K: 2 })).body.PI_list.map(({ score }: { score: number }) => score)
    const cosineTo = (person: readonly number[]) => person.reduce((sum, value, i) => sum + value * (probe[i] ?? 0), 0)
    near(scores[0], 13.7, 0.5, cosineTo(face))
    near(scores[1], 13.7, 0.5, cosineTo(other))
    const sealed = async (op: 'enroll' | 'predict', cosine: number) =>
      (await client.post(op, { features: await client.sealed(op, [faces.sample(small, cosine)]) })).body.score
    assert.equal(await sealed('enroll', 1), 1)
    near(await sealed('enroll', 0.98), 116, 0.945, 0.98)
    near(await sealed('predict', 0.97), 116, 0.945, 0.97)
  })
})

describe('predictions near one person', () => {
  test('of one face 45 are answered at once and then one every 80 seconds: the key waits for the next token, with every face', async () => {
    const { tenantId, client } = await newTenant()
    const [face, other] = [faces.person(), faces.person()]
    await enrol(client, face)
    await enrol(client, other)
    for (let n = 1; n <= 45; n++) {
      // A third are near misses: they tell as much as hits.
      const { http } = await predict(client, faces.sample(face, n % 3 === 0 ? 0.45 : 0.9))
      assert.equal(http, 200)
    }
    for (const call of ['plainPredict', 'plainEnroll'])
      for (const any of [face, other, faces.person()]) {
        const { http, body, headers } = await client.post(call, { features: feature(any) })
        assert.deepEqual([http, body, headers['retry-after']], [429, REFUSED, '80'], 'else 429 would show who is near')
      }
    harness.clock.advance(80_000)
    assert.equal((await predict(client, faces.sample(face, 0.9))).body.score, 0.99, tenantId)
    assert.equal((await predict(client, other)).http, 429)
  })

  test('calls that are on their way when the key begins to wait are refused alike, and make nobody wait longer', async () => {
    const { client } = await newTenant()
    const [face, far] = [faces.person(), faces.person()]
    await enrol(client, face)
    const asked = Array.from({ length: 200 }, (_, n) => predict(client, n % 4 === 3 ? far : faces.sample(face, 0.9)))
    const answers = await Promise.all(asked)
    const refused = answers.filter(({ http }) => http === 429)
    assert.equal(answers.filter(({ http, body }) => http === 200 && body.status === 0).length, 45)
    assert.ok(refused.length >= 100, `${refused.length} refused`)
    assert.deepEqual([...new Set(refused.map(({ headers }) => headers['retry-after']))], ['80'])
    harness.clock.advance(80_000)
    assert.equal((await predict(client, faces.sample(face, 0.9))).http, 200)
  })

  test('raise an alarm with the 60th of an hour, and the key tells one band for an hour', async () => {
    const { keyId, client } = await newTenant()
    const [face, other] = [faces.person(), faces.person()]
    const puid = await enrol(client, face)
    await enrol(client, other)
    const before = await alarms('alarm')
    for (let n = 1; n <= 60; n++) {
      const { body } = await predict(client, faces.sample(face, 0.9))
      assert.deepEqual([body.score, await alarms('alarm')], n < 60 ? [0.99, before] : [0.5, before + 1])
      if (n >= 45) harness.clock.advance(80_000)
    }
    assert.equal((await predict(client, other)).body.score, 0.5, 'one band for everybody')
    const lines = harness
      .logged()
      .split('\n')
      .filter((line) => line.includes('predictions near one person'))
    assert.equal(lines.filter((line) => line.includes(keyId)).length, 1)
    assert.ok(lines.every((line) => !line.includes(puid)))
    harness.clock.advance(2 * 3_600_000)
    assert.equal((await predict(client, other)).body.score, 0.99, 'after an hour the key is free again')
  })

  test('a kiosk that asks once per visit is never refused, with one face before it for eight hours', async () => {
    const { client } = await newTenant()
    const face = faces.person()
    await enrol(client, face)
    const { createVisits } = await visitsOfTheDocument()
    const shouldAsk = createVisits()
    let asked = 0
    for (let second = 0, told = 0; second < 8 * 3_600; second++) {
      // A frame a second; every so often the detector misses the face in some.
      if (!shouldAsk(second * 1_000, second % 97 > 3)) continue
      harness.clock.advance((second - told) * 1_000)
      told = second
      asked++
      assert.equal((await predict(client, faces.sample(face, 0.9))).http, 200, `second ${second}`)
    }
    assert.equal(asked, 48)
  })

  test('are counted over all keys of the tenant', async () => {
    const { tenantId, client } = await newTenant()
    const keys = [client]
    for (const name of ['two', 'three']) {
      const made = {
        livemode: true,
        name,
        scopes: ['node:*' as const],
        allowedIps: [],
        usagePlanId: 'unmetered' as const,
      }
      const { api_key } = await harness.wire.keys.service.createKey(tenantId, made)
      keys.push(createClient(harness, api_key))
    }
    const face = faces.person()
    await enrol(client, face)
    let answered = 0
    for (let n = 0; n < 100; n++) {
      const { http } = await predict(keys[n % 3] as Client, faces.sample(face, 0.9))
      if (http === 200) answered++
    }
    assert.equal(answered, 45)
  })

  test('are counted where enrolment says who has a face', async () => {
    const { client } = await newTenant()
    const face = faces.person()
    const puid = await enrol(client, face)
    let answered = 0
    for (let n = 0; n < 95; n++) {
      const { http, body } = await client.post('plainEnroll', { features: feature(face) })
      if (http !== 200) continue
      assert.equal(body.puid, puid)
      answered++
    }
    assert.equal(answered, 45)
  })

  test('are counted where enrolment is refused because another face has the name', async () => {
    const { client } = await newTenant()
    const face = faces.person()
    await enrol(client, face)
    const named = (of: readonly number[]) =>
      client.post('plainEnroll', { features: feature(of), metadata: { id: 'taken' } })
    await named(faces.person())
    const statuses: number[] = []
    for (let n = 0; n < 92; n++) statuses.push((await named(faces.sample(face, 0.49))).http)
    assert.deepEqual([...new Set(statuses.slice(0, 45))], [400])
    assert.deepEqual([...new Set(statuses.slice(45))], [429])
    const far = await client.post('plainPredict', { features: feature(faces.person()) })
    assert.deepEqual([far.http, far.body], [429, REFUSED], 'the key is held')
  })

  test('are counted in the database after every fifth, and deleted with the person or after a day', async () => {
    const { tenantId, client } = await newTenant()
    const face = faces.person()
    const puid = await enrol(client, face)
    const stored = async () => {
      const { rows } = await harness.database.query('select hits from face_hits where tenant_id = $1', [tenantId])
      return rows.map(({ hits }) => hits)
    }
    for (let n = 0; n < 4; n++) await predict(client, faces.sample(face, 0.9))
    assert.deepEqual(await stored(), [], 'people who are recognised now and then cost no write')
    for (let n = 0; n < 7; n++) await predict(client, faces.sample(face, 0.9))
    assert.deepEqual(await stored(), [10])
    const db = harness.wire.platform.cells.forId(tenantId)
    await purgeHits(db, harness.clock.now())
    assert.deepEqual(await stored(), [10])
    await purgeHits(db, new Date(harness.clock.now().getTime() + 25 * 3_600_000))
    assert.deepEqual(await stored(), [])
    for (let n = 0; n < 5; n++) await predict(client, faces.sample(face, 0.9))
    assert.equal((await stored()).length, 1)
    await harness.wire.biometrics.recognition.delete({ tenantId, livemode: true }, puid)
    assert.deepEqual(await stored(), [])
  })

  test('of a test key are not counted: its people are invented', async () => {
    const { client } = await newTenant(false)
    const face = faces.person()
    await enrol(client, face)
    for (let n = 0; n < 100; n++) assert.equal((await predict(client, faces.sample(face, 0.9))).body.score, 0.99)
  })
})

describe('a day near one person', () => {
  const MINUTE_MS = 60_000
  const DAY_MINUTES = 24 * 60

  /** Another process on the same database. Its clock has to be moved with the first one's. */
  async function withSecondProcess(work: (second: Harness) => Promise<void>): Promise<void> {
    const second = await createHarness({}, { through: async () => harness.database.url })
    second.clock.advance(harness.clock.now().getTime() - second.clock.now().getTime())
    await work(second)
  }

  interface Attack {
    /** One for each key and process. */
    clients: Client[]
    clocks: Harness['clock'][]
    face: readonly number[]
  }

  /** A person, and keys that ask about them at these processes. */
  async function newAttack(keys: number, processes: readonly Harness[]): Promise<Attack> {
    const { tenantId, client } = await newTenant()
    const made = { livemode: true, allowedIps: [], scopes: ['node:*' as const], usagePlanId: 'unmetered' as const }
    const secrets = [client.key]
    for (let n = 1; n < keys; n++) {
      secrets.push((await harness.wire.keys.service.createKey(tenantId, { ...made, name: `key ${n}` })).api_key)
    }
    const face = faces.person()
    await enrol(client, face)
    const clients = processes.flatMap((process) => secrets.map((key) => createClient(process, key)))
    return { clients, clocks: processes.map(({ clock }) => clock), face }
  }

  /** Asks as often as `wanted` says in each minute, with one client after the other. Returns the minutes of the answers. */
  async function ask({ clients, clocks, face }: Attack, minutes: number, wanted: (minute: number) => number) {
    // From the start of an hour, so that minutes are those of the clock.
    const now = harness.clock.now().getTime()
    const toFullHour = (60 * MINUTE_MS - (now % (60 * MINUTE_MS))) % (60 * MINUTE_MS)
    for (const clock of clocks) clock.advance(toFullHour)
    const answered: number[] = []
    let asked = 0
    for (let minute = 0; minute < minutes; minute++) {
      let refused = 0
      for (let n = wanted(minute); n > 0 && refused < clients.length; n--) {
        const client = clients[asked++ % clients.length] as Client
        // Every other one is a near miss, which tells as much as a hit.
        const { http } = await predict(client, faces.sample(face, asked % 2 === 0 ? 0.45 : 0.9))
        assert.ok(http === 200 || http === 429, String(http))
        if (http === 200) answered.push(minute)
        else refused++
      }
      for (const clock of clocks) clock.advance(MINUTE_MS)
    }
    return answered
  }

  /** The most answers within any so many minutes. */
  const mostWithin = (length: number, minutes: readonly number[]) =>
    Math.max(...minutes.map((from) => minutes.filter((at) => at >= from && at < from + length).length))
  const mostInADay = (minutes: readonly number[]) => mostWithin(DAY_MINUTES, minutes)
  /** What the day lets through, and a tenth more for processes that are behind each other. */
  const MOST = HIT_BUDGET.day.most * 1.1

  test('has no more answers than the budget, spread just under the alarm of every hour', async () => {
    const answered = await ask(await newAttack(1, [harness]), DAY_MINUTES, (minute) => (minute % 60 === 0 ? 58 : 0))
    const most = mostInADay(answered)
    assert.ok(most >= HIT_BUDGET.day.most / 2 && most <= MOST, String(most))
  })

  test('has no more answers than the budget when it begins with the last minute of an hour', async () => {
    // What was asked in the last minute of a counted time is within the 24 hours for as long as that time is.
    const wanted = (minute: number) => (minute === 59 || (minute > 60 && minute % 60 === 58) ? 85 : 0)
    const answered = await ask(await newAttack(1, [harness]), DAY_MINUTES + 60, wanted)
    const most = mostInADay(answered)
    assert.ok(most >= HIT_BUDGET.day.most / 2 && most <= MOST, String(most))
  })

  test('has no more answers than the budget with three keys over two processes', async () => {
    await withSecondProcess(async (second) => {
      const attack = await newAttack(3, [harness, second])
      const answered = await ask(attack, DAY_MINUTES, (minute) => (minute % 60 === 0 ? 58 : 0))
      const most = mostInADay(answered)
      assert.ok(most >= HIT_BUDGET.day.most / 2 && most <= MOST, String(most))
    })
  })

  test('has no more than 90 answers in any 60 minutes, asked before and after the turn of the hour', async () => {
    const wanted = (minute: number) => (minute >= 59 && minute <= 118 ? 90 : 0)
    const answered = await ask(await newAttack(1, [harness]), 120, wanted)
    const most = mostWithin(60, answered)
    assert.ok(most > 80 && most <= 90, String(most))
  })

  test('is not shortened by hits that were written later than they were counted', async () => {
    const { client } = await newTenant()
    const face = faces.person()
    await enrol(client, face)
    const before = await alarms('alarm')
    const clocks = [harness.clock]
    // 12 an hour: each fifth is written, with four that were counted up to 20 minutes before.
    const answered = await ask({ clients: [client], clocks, face }, DAY_MINUTES, (minute) => (minute % 5 === 0 ? 1 : 0))
    assert.deepEqual([answered.length, (await alarms('alarm')) - before], [288, 0])
  })

  test('does not count broken features: they are refused before they are compared', async () => {
    const { tenantId, client } = await newTenant()
    const face = faces.person()
    await enrol(client, face)
    const broken = [...face.slice(1), Number.NaN]
    for (let n = 0; n < 10; n++) assert.equal((await predict(client, broken)).http, 400)
    const { rows } = await harness.database.query('select hits from face_hits where tenant_id = $1', [tenantId])
    assert.deepEqual(rows, [])
  })
})

test('the enrolled features themselves are answered as any other and marked as a replay', async () => {
  const { client } = await newTenant()
  const face = faces.person()
  const puid = await enrol(client, face)
  const found = (await predict(client, face)).body
  assert.deepEqual([found.status, found.puid, found.score, found.replay], [0, puid, 0.99, true])
  assert.equal((await predict(client, face, { K: 5 })).body.replay, true)
  assert.equal('replay' in (await predict(client, faces.sample(face, 0.998))).body, false)
  assert.equal('replay' in (await predict(client, faces.person())).body, false)
})
