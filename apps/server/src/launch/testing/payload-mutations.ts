/** Correctly sealed payloads with impossible content. Only tests import this. */
import { sealPayload } from '@ostiary/crypto'
import type { Good, Refused } from './sealed-mutations.ts'

const REMOVED = Symbol('removed')

/** The payload with one place changed. `frames.3.yaw` is a place. */
function changed(value: unknown, [name = '', ...rest]: readonly string[], to: unknown): unknown {
  const copy: Record<string, unknown> = { ...Object(value) }
  if (rest.length > 0) copy[name] = changed(copy[name], rest, to)
  else if (to === REMOVED) delete copy[name]
  else copy[name] = to
  return Array.isArray(value) ? Object.values(copy) : copy
}

function place(path: string, to: unknown, answer = { status: 400, code: 'INVALID_PAYLOAD' }): Refused {
  const what = to === REMOVED ? 'left out' : `${JSON.stringify(to)}`.slice(0, 60)
  return {
    name: `${path}: ${what}`,
    body: async ({ sealKey, sessionId, payload }) => ({
      sealed: await sealPayload(sealKey, sessionId, Object(changed(payload, path.split('.'), to))),
    }),
    ...answer,
  }
}

const each = (path: string, values: readonly unknown[]) => values.map((value) => place(path, value))
const HASH = 'x'.repeat(43)

const WHOLE: Refused[] = [
  ...each('v', [REMOVED, 0, 2, '1', null]),
  ...each('sessionId', [REMOVED, '', 'short', null]),
  ...each('nonce', [REMOVED, '', 7, 'n'.repeat(65)]),
  ...each('attempt', [REMOVED, 0, 2, 3, 11, 1.5, '1']),
  ...each('live', [REMOVED, -1, 1001, 0.5, '950']),
  ...each('verdict', ['AGE_ABOVE_THRESHOLD']),
  ...each('metadata', [7, 'text', ['list'], null]),
]

const PARTS: Refused[] = [
  ...each('model', [REMOVED, null, 'simulated-1', { id: 'simulated-1' }]),
  ...each('model.id', [7, 'm'.repeat(65)]),
  ...each('model.hash', ['short', `${HASH}x`, `${HASH.slice(1)}!`]),
  ...each('model.version', ['2']),
  ...each('estimate', [REMOVED, null, 42]),
  ...each('estimate.age', [REMOVED, -1, 1201, 42.5, '420']),
  ...each('estimate.spread', [REMOVED, -1, 1201]),
  ...each('estimate.frames', [REMOVED, 0, 49]),
  ...each('estimate.thresholdResult', ['AGE_ABOVE_THRESHOLD']),
  ...each('log', [REMOVED, null, { seq: 1 }, { hash: HASH }]),
  ...each('log.seq', [0, -1, 1.5]),
  ...each('log.hash', ['short', `${HASH}x`]),
  ...each('indicators', ['0'.repeat(20), '0'.repeat(22), '2'.repeat(21), 0]),
  ...each('browser', ['ordinary', {}, { kind: 'other' }, { kind: 'ordinary', name: 'Firefox' }]),
  ...each('browser', [{ kind: 'webview', phoneCamera: 'yes' }]),
]

const FIELDS = ['t', 'yaw', 'pitch', 'roll', 'eyes', 'size', 'quality', 'digest']
const FRAMES: Refused[] = [
  ...each('frames', [REMOVED, [], {}, null, 'none']),
  ...FIELDS.map((field) => place(`frames.2.${field}`, REMOVED)),
  ...each('frames.0', [null, []]),
  ...each('frames.0.t', [-1, 120_001, 3.5]),
  ...each('frames.1.yaw', [901, -901, '12']),
  ...each('frames.1.pitch', [901]),
  ...each('frames.1.roll', [-901]),
  ...each('frames.1.eyes', [-1, 1001]),
  ...each('frames.1.size', [-1, 1001]),
  ...each('frames.1.quality', [1001, null]),
  ...each('frames.1.age', [-1, 1201, 30.5, '300', null]),
  ...each('frames.1.digest', ['short', 'tooLongForIt', 'ten+letters']),
  ...each('frames.1.picture', ['/9j/4AAQ']),
  {
    ...place('frames', '49 of them'),
    body: async ({ sealKey, sessionId, payload }: Good) => {
      const frames = Array.from({ length: 49 }, (_, index) => payload.frames[index % payload.frames.length])
      return { sealed: await sealPayload(sealKey, sessionId, { ...payload, frames }) }
    },
  },
]

/** Well-formed payloads of another session or another challenge. */
const notIssued = { status: 409, code: 'CHALLENGE_NOT_VALID' }
const FOREIGN: Refused[] = [
  place('nonce', 'A'.repeat(32), notIssued),
  ...[
    { name: 'nonce: of a stranger', pick: ({ stranger }: Good) => ({ nonce: stranger.payload.nonce }) },
    { name: 'nonce: longer by a letter', pick: ({ payload }: Good) => ({ nonce: `${payload.nonce}A` }) },
    { name: 'nonce: shorter by a letter', pick: ({ payload }: Good) => ({ nonce: payload.nonce.slice(0, -1) }) },
    { name: 'nonce: a space behind it', pick: ({ payload }: Good) => ({ nonce: `${payload.nonce} ` }) },
  ].map(({ name, pick }) => ({ ...withPart(name, pick), ...notIssued })),
  withPart('sessionId: of a stranger', ({ stranger }) => ({ sessionId: stranger.sessionId })),
  withPart('sessionId: in capitals', ({ sessionId }) => ({ sessionId: sessionId.toUpperCase() })),
]

function withPart(name: string, pick: (good: Good) => object): Refused {
  return {
    name,
    body: async (good) => ({
      sealed: await sealPayload(good.sealKey, good.sessionId, { ...good.payload, ...pick(good) }),
    }),
    status: 400,
    code: 'INVALID_PAYLOAD',
  }
}

export const PAYLOAD_MUTATIONS: readonly Refused[] = [...WHOLE, ...PARTS, ...FRAMES, ...FOREIGN]
