/** 10,000 hostile bodies for area E. Every one must get the documented answer for its kind, and leave nobody enrolled. */
import { NODE_ERRORS } from '@ostiary/contract'
import { sealEnvelope } from '@ostiary/crypto'
import { createDatabase, testSettings } from '@ostiary/testkit/databases'
import { openEnrolledPeople } from '@ostiary/testkit/measuring/enrolled-people'
import type { Measure } from '@ostiary/testkit/measuring/figure'
import { createTenant } from '@ostiary/testkit/measuring/node-bench'
import { startApi, startServices } from '@ostiary/testkit/run'
import { inParallel } from './enrols.ts'
import { type Hostile, hostileRequest } from './hostile-node.ts'
import { seeded } from './malformed.ts'

const COUNT = 10_000
const WORKERS = 8

export const measure: Measure = async ({ full, say }) => {
  const count = full ? COUNT * 5 : COUNT
  const seed = full ? Date.now() % 1_000_000 : 20_261_115
  const database = await createDatabase(startServices(), 'drill')
  const settings = testSettings(database.url)
  const api = await startApi({ env: settings, logName: 'drill-node-hostile' })
  const enrolled = await openEnrolledPeople(settings)
  try {
    const [{ key }, { key: otherKey }] = [
      await createTenant(enrolled, 'Hostile'),
      await createTenant(enrolled, 'Other'),
    ]
    const usedEnvelope = await sealEnvelope(key, {
      purpose: 'predict',
      modelVersion: 'FACE3_1',
      issuedAt: Math.floor(Date.now() / 1000),
      id: 'used',
      text: JSON.stringify([{ type: 'face', embedding_vector: Array.from({ length: 128 }, (_, i) => Math.sin(i)) }]),
    })
    const first = await send(api.url, {
      kind: '',
      path: 'FACE3_1/predict',
      headers: { 'x-api-key': key },
      body: JSON.stringify({ features: usedEnvelope }),
      expect: [],
    })
    if (first.http !== 200) throw new Error(`The honest request was answered ${first.http} ${first.text}`)

    const random = seeded(seed)
    const wrong = new Map<string, number>()
    const answers = new Map<string, number>()
    const add = (map: Map<string, number>, name: string) => map.set(name, (map.get(name) ?? 0) + 1)
    await inParallel(count, WORKERS, async () => {
      const context = { key, otherKey, usedEnvelope, nowSeconds: Math.floor(Date.now() / 1000) }
      const request = await hostileRequest(random, context)
      const answer = await send(api.url, request)
      add(answers, answer.name)
      const finding = judge(request, answer)
      if (finding) add(wrong, finding)
    })
    say(
      `seed ${seed}: ${[...answers]
        .sort()
        .map(([name, times]) => `${name} ${times}x`)
        .join(', ')}`,
    )
    for (const [finding, times] of [...wrong].slice(0, 20)) say(`WRONG ${times}x ${finding}`)
    const { rows } = await enrolled.query('select count(*)::int as count from face_persons')
    const total = (map: Map<string, number>) => [...map.values()].reduce((sum, times) => sum + times, 0)
    return [
      { name: 'node-hostile.answered', value: total(answers), floor: count, is: 'least' },
      { name: 'node-hostile.wrong-answers', value: total(wrong), floor: 0, is: 'most' },
      { name: 'node-hostile.persons-made', value: rows[0].count, floor: 0, is: 'most' },
      { name: 'node-hostile.faults-in-log', value: faultsIn(api.log()), floor: 0, is: 'most' },
    ]
  } finally {
    await enrolled.close()
    await api.stop()
    await database.drop()
  }
}

interface Answer {
  http: number
  /** `400/-2` */
  name: string
  text: string
}

async function send(url: string, { path, headers, body }: Hostile): Promise<Answer> {
  const response = await fetch(`${url}/node/${path}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: typeof body === 'string' ? body : new Uint8Array(body),
    signal: AbortSignal.timeout(60_000),
  }).catch((error: Error) => new Response(`{"message":"${error.name}"}`, { status: 599 }))
  const text = await response.text()
  return { http: response.status, name: `${response.status}/${statusIn(text)}`, text }
}

function statusIn(text: string): unknown {
  try {
    return (JSON.parse(text) as { status?: unknown }).status
  } catch {
    return 'no JSON'
  }
}

/** Documented means: a row of the table with this HTTP status, this status, and this message up to its reason. */
function judge({ kind, expect }: Hostile, { http, name, text }: Answer): string | undefined {
  const shown = `${kind}: ${name} ${text.slice(0, 160)}`
  if (!expect.includes(name)) return `not one of ${expect}: ${shown}`
  const { status, message, ...more } = JSON.parse(text) as { status: number; message: string }
  const documented = Object.values(NODE_ERRORS).some(
    (row) =>
      row.http === http && row.status === status && (message === row.message || message.startsWith(`${row.message}: `)),
  )
  return documented && Object.keys(more).length === 0 ? undefined : `not documented: ${shown}`
}

/** Faults of the server: every 500 except the one that the specification asks for. */
function faultsIn(log: string): number {
  return log.split('\n').filter((line) => /"status":5\d\d/.test(line) && !line.includes('NODE_PUID_MISSING')).length
}
