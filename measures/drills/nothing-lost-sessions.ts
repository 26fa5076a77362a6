import type { Client, Host } from '@ostiary/testkit/measuring/sessions-load'
import type { Behaviour, Receivers } from '@ostiary/testkit/receivers'
import type { Moments } from './kill-moments.ts'
import type { Ending, Played } from './lost-and-found.ts'
import { playRepeatedFlow } from './repeated-flow.ts'

/** Of each ten sessions. `device` plays the whole flow of a person (area D: a spoof); `outcome` is the sandbox's short way. */
const WAYS: readonly Way[] = [
  'device',
  'outcome',
  'outcome',
  'outcome',
  'cancel',
  'cancel',
  'cancel',
  'expire',
  'expire',
  'expire',
]
type Way = 'device' | 'outcome' | 'cancel' | 'expire'
/** One behaviour per receiver; halfway through, each receiver takes over its neighbour's. */
export const MANNERS: readonly Behaviour[] = ['ok', 'error', 'late', 'hang', 'reset', 'dead', 'half', 'mixed']
/** Sessions expire after a minute, the least there is. */
export const LIFETIME_SECONDS = 60
/** With one of so many sessions comes one without a callback, which nobody opens. */
export const SILENT_EVERY = 10

/** The steps of a session that a kill can meet. */
export const STEPS = ['creation', 'device', 'end', 'delivery', 'sweep'] as const
export type Step = (typeof STEPS)[number]

/** What the sessions of the drill need. */
export interface Stage {
  apiUrl: string
  client: Client
  hosts: readonly Host[]
  receivers: Receivers
  silent: { host: Host; path: string }[]
  moments: Moments<Step>
}

export function hostOf(hosts: readonly Host[], receiver: number): Host {
  const host = hosts[receiver % hosts.length]
  if (!host) throw new Error('There are no tenants')
  return host
}

const ENDINGS: Readonly<Record<'C' | 'D', Readonly<Record<Way, Ending>>>> = {
  C: { device: 'COMPLETED', outcome: 'COMPLETED', cancel: 'CANCELLED', expire: 'EXPIRED' },
  D: { device: 'FAILED', outcome: 'SUCCEEDED', cancel: 'CANCELLED', expire: 'EXPIRED' },
}

/** Every receiver gets both areas in turn, and every way of both. Neighbours differ, so that a kill soon meets each step. */
export async function playOne(stage: Stage, index: number): Promise<Played> {
  const row = Math.floor(index / MANNERS.length)
  const way = WAYS[(row + 7 * (index % MANNERS.length)) % WAYS.length] ?? 'outcome'
  if (index % SILENT_EVERY === 0) await createSilent(stage, index)
  const isAge = (row + Math.floor(row / WAYS.length)) % 2 === 0
  return isAge ? playAge(stage, index, way) : playVerification(stage, index, way)
}

async function createSilent({ client, hosts, silent }: Stage, index: number): Promise<void> {
  const host = hostOf(hosts, index)
  const body = { redirectUrl: 'https://host.example/checked', ageThreshold: 30, sessionExpiry: LIFETIME_SECONDS }
  const { token } = await client.create(host, body, `silent-${index}`)
  silent.push({ host, path: `/session/${token}/result` })
}

/** Sessions without a callback that have not expired although their time is over. */
export async function countOpen({ client, silent }: Stage): Promise<number> {
  const results = await Promise.all(
    silent.map(({ host, path }) => client.read<{ flowStatus: string | null }>(host, path)),
  )
  return results.filter(({ flowStatus }) => flowStatus !== 'EXPIRED').length
}

async function playAge({ apiUrl, client, hosts, receivers, moments }: Stage, index: number, way: Way): Promise<Played> {
  const receiver = index % MANNERS.length
  const host = hostOf(hosts, receiver)
  const body = {
    redirectUrl: 'https://host.example/checked',
    ageThreshold: 30,
    callback: { url: receivers.urls[receiver] ?? '' },
    metadata: { order: index },
    ...(way === 'expire' && { sessionExpiry: LIFETIME_SECONDS }),
  }
  moments.reach('creation')
  const { sessionId, token } = await client.create(host, body, `lost-${index}`)
  const path = `/session/${token}`
  // A device gives up in the end. The sandbox then ends the session instead.
  const flow = { baseUrl: apiUrl, sessionId, number: index, onCall: () => moments.reach('device') }
  const isEnded = way === 'device' && (await playRepeatedFlow(flow))
  if (way !== 'expire' && !isEnded) moments.reach('end')
  if (way === 'cancel') await client.cancel(host, path)
  if (!isEnded && (way === 'device' || way === 'outcome')) await client.complete(host, sessionId)
  return { sessionId, area: 'C', path: `${path}/result`, receiver, ending: ENDINGS.C[way], hasPicture: false }
}

const TYPES = ['ENROLL', 'SIGN-IN'] as const

async function playVerification(
  { client, hosts, receivers, moments }: Stage,
  index: number,
  way: Way,
): Promise<Played> {
  const receiver = index % MANNERS.length
  const host = hostOf(hosts, receiver)
  const sendImages = index % 3 > 0
  const body = {
    type: TYPES[index % 2] ?? 'ENROLL',
    redirectURL: 'https://host.example/welcome',
    callback: { url: receivers.urls[receiver] ?? '' },
    transactionID: `order ${index}`,
    sendImages,
    ...(way === 'expire' && { sessionExpiry: LIFETIME_SECONDS }),
  }
  moments.reach('creation')
  const { sessionId } = await client.createVerification(host, body, `lost-${index}`)
  const path = `/v2/verification-session/${sessionId}`
  if (way !== 'expire') moments.reach('end')
  if (way === 'cancel') await client.cancel(host, path)
  if (way === 'device') await client.complete(host, sessionId, { outcome: 'spoof' })
  if (way === 'outcome') await client.complete(host, sessionId, { outcome: 'success' })
  // Only of a success there is a picture to send.
  const hasPicture = sendImages && way === 'outcome'
  return { sessionId, area: 'D', path: `${path}/webhook`, receiver, ending: ENDINGS.D[way], hasPicture }
}
