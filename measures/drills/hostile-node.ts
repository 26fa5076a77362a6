/** Bodies that no honest client of area E sends, made from a seed. */
import { sealEnvelope } from '@ostiary/crypto'

export interface Hostile {
  kind: string
  path: string
  headers: Record<string, string>
  body: string | Buffer
  /** The documented answers: HTTP status and `status` in the body, as in `400/-2`. */
  expect: readonly string[]
}

export interface HostileContext {
  key: string
  otherKey: string
  /** An envelope that was used before. */
  usedEnvelope: string
  nowSeconds: number
}

const PLAIN = ['plainEnroll', 'plainPredict']
const SEALED = ['enroll', 'predict']
const FEATURES = ['400/-2']
const FIELD = ['400/-1']

type Random = () => number
type Maker = (random: Random, context: HostileContext) => Hostile | Promise<Hostile>

export function hostileRequest(random: Random, context: HostileContext): Hostile | Promise<Hostile> {
  return pick(random, MAKERS)(random, context)
}

const numbers = (random: Random, count: number) => Array.from({ length: count }, () => random() - 0.5)
const pick = <T>(random: Random, options: readonly T[]): T => options[Math.floor(random() * options.length)] as T
const json = (value: unknown) => JSON.stringify(value)

function plain(
  kind: string,
  random: Random,
  { key }: HostileContext,
  embedding_vector: unknown,
  expect = FEATURES,
): Hostile {
  const body = json({ features: { type: 'face', embedding_vector } })
  return { kind, path: pick(random, PLAIN), headers: { 'x-api-key': key }, body, expect }
}

function raw(
  kind: string,
  random: Random,
  { key }: HostileContext,
  body: string | Buffer,
  expect: readonly string[],
): Hostile {
  const path = pick(random, [...PLAIN, 'FACE3_1/enroll', 'FACE3_3/predict'])
  return { kind, path, headers: { 'x-api-key': key }, body, expect }
}

async function sealed(
  kind: string,
  random: Random,
  context: HostileContext,
  change: { key?: string; op?: string; mv?: string; age?: number; text?: string; bend?(compact: string): string },
  expect = FEATURES,
): Promise<Hostile> {
  const operation = pick(random, SEALED)
  const compact = await sealEnvelope(change.key ?? context.key, {
    purpose: (change.op ?? operation) as 'enroll',
    modelVersion: change.mv ?? 'FACE3_1',
    issuedAt: context.nowSeconds - (change.age ?? 0),
    id: String(random()),
    text: change.text ?? json([{ type: 'face', embedding_vector: numbers(random, 128) }]),
  })
  const body = json({ features: change.bend?.(compact) ?? compact })
  return { kind, path: `FACE3_1/${operation}`, headers: { 'x-api-key': context.key }, body, expect }
}

const LENGTHS = [0, 1, 127, 128, 129, 300, 511, 513, 1_000, 50_000]

const MAKERS: readonly Maker[] = [
  (random, context) => plain('length', random, context, numbers(random, pick(random, LENGTHS))),
  (random, context) => plain('strings', random, context, numbers(random, 512).map(String)),
  (random, context) =>
    plain(
      'nested',
      random,
      context,
      numbers(random, 512).map((n) => [n]),
    ),
  (random, context) => plain('nulls', random, context, new Array(512).fill(null)),
  (random, context) => plain('zeros', random, context, new Array(512).fill(0)),
  (random, context) =>
    plain(
      'one of another type',
      random,
      context,
      numbers(random, 512).with(random() * 512, pick(random, [true, {}, '', []]) as never),
    ),
  (random, context) => plain('no array', random, context, pick(random, ['x', 5, {}, true, { length: 512 }])),
  (random, context) => {
    const body = json({ features: { type: 'face', embedding_vector: numbers(random, 512) } })
    const broken = body.replace(
      /-?0\.\d+/,
      pick(random, ['NaN', 'Infinity', '-Infinity', '1e999', '0x10', '.5', '1_000', "'1'"]),
    )
    return raw('NaN and the like', random, context, broken, ['400/-2'])
  },
  (random, context) =>
    raw(
      'a million numbers',
      random,
      context,
      `{"features":{"type":"face","embedding_vector":[${'1,'.repeat(600_000)}1]}}`,
      ['413/400'],
    ),
  (random, context) => raw('deep', random, context, `${'['.repeat(pick(random, [33, 1_000, 100_000]))}`, ['400/-2']),
  (random, context) =>
    raw(
      'cut off',
      random,
      context,
      json({ features: { type: 'face', embedding_vector: numbers(random, 512) } }).slice(
        0,
        Math.floor(random() * 5_000) + 1,
      ),
      ['400/-2'],
    ),
  (random, context) =>
    raw('no object', random, context, pick(random, ['[]', '5', '"x"', 'true', '[[[]]]']), ['400/-2']),
  (random, context) => raw('not UTF-8', random, context, Buffer.from([0x7b, 0x22, 0xff, 0xfe, 0x22, 0x7d]), ['400/-2']),
  (random, context) => raw('prototype', random, context, `{"__proto__":{"K":1},"features":{}}`, ['400/-2']),
  (random, context) =>
    raw(
      'unknown field',
      random,
      context,
      json({ features: 'x', [pick(random, ['admin', 'tenant_id', 'puid', 'k'])]: 1 }),
      FIELD,
    ),
  (random, context) =>
    raw(
      'features of another type',
      random,
      context,
      json({ features: pick(random, [5, true, [], [1], {}, { type: 5 }, { type: 'face' }]) }),
      ['400/-2'],
    ),
  (random, { key }) => {
    const body = json({
      features: { type: 'face', embedding_vector: numbers(random, 512) },
      K: pick<unknown>(random, [0, -1, 51, 1.5, 1e308, '5', true, [], {}]),
    })
    return { kind: 'K', path: 'plainPredict', headers: { 'x-api-key': key }, body, expect: FIELD }
  },
  (random, { key }) => {
    const user_identifier = pick<unknown>(random, ['', 5, {}, [], 'x'.repeat(3_000), true])
    const body = json({ features: { type: 'face', embedding_vector: numbers(random, 512) }, user_identifier })
    return { kind: 'user_identifier', path: 'plainPredict', headers: { 'x-api-key': key }, body, expect: FIELD }
  },
  (random, { key }) => {
    const metadata = pick<unknown>(random, [
      5,
      'x',
      [],
      { id: 5 },
      { id: '' },
      { id: 'x'.repeat(300) },
      { name: 'x' },
      true,
    ])
    const body = json({ features: { type: 'face', embedding_vector: numbers(random, 512) }, metadata })
    return { kind: 'metadata', path: 'plainEnroll', headers: { 'x-api-key': key }, body, expect: FIELD }
  },
  (random, { key }) => {
    const version = pick<unknown>(random, ['FACE9', 'face3_1', 5, {}, '', 'constructor', '__proto__'])
    const body = json({ version, features: { type: 'face', embedding_vector: numbers(random, 512) } })
    return { kind: 'version', path: pick(random, PLAIN), headers: { 'x-api-key': key }, body, expect: FIELD }
  },
  (random, { key }) => {
    const path = `${pick(random, ['FACE9', 'face3_1', 'constructor', '__proto__', '%00', '..%2f', 'x'.repeat(200)])}/${pick(random, SEALED)}`
    return {
      kind: 'version in the path',
      path,
      headers: { 'x-api-key': key },
      body: '{"features":"x"}',
      expect: ['400/-1', '400/400', '404/400'],
    }
  },
  (random, { key }) => {
    const api_key = pick<unknown>(random, [5, {}, [], true, 'x', `${key}x`, 'x'.repeat(1_000), { toString: 'x' }])
    const path = pick(random, [...PLAIN, 'api-key/checkApiKeyValid', 'FACE3_1/deleteUser'])
    return { kind: 'wrong key', path, headers: {}, body: json({ api_key }), expect: ['403/-1', '429/-1'] }
  },
  (random) => ({ kind: 'no key', path: pick(random, PLAIN), headers: {}, body: '{}', expect: ['400/-1'] }),
  (random, context) => sealed('re-keyed', random, context, { key: context.otherKey }),
  (random, context) =>
    sealed('wrong op', random, context, { op: pick(random, ['puid', 'guid', 'deleteUser', 'nothing']) }),
  (random, context) => sealed('wrong model version', random, context, { mv: pick(random, ['FACE3_3', '', 'x']) }),
  (random, context) => sealed('old or early', random, context, { age: pick(random, [310, 4_000, -310, 1e9, -1e9]) }),
  (random, context) =>
    sealed('truncated', random, context, {
      bend: (compact) => compact.slice(0, Math.floor(random() * compact.length)) || 'x',
    }),
  (random, context) =>
    sealed('bent', random, context, {
      bend: (compact) => {
        const at = Math.floor(random() * (compact.length - 1))
        const letter = compact[at] === 'A' ? 'B' : 'A'
        return compact[at] === '.'
          ? `${compact.slice(0, at)}${compact.slice(at + 1)}`
          : `${compact.slice(0, at)}${letter}${compact.slice(at + 1)}`
      },
    }),
  (random, context) =>
    sealed('text inside', random, context, {
      text: pick(random, [
        '',
        'x',
        '{}',
        '[]',
        'null',
        '[null]',
        '[{}]',
        '[[]]',
        '{"length":1}',
        json(new Array(11).fill({ type: 'face', embedding_vector: numbers(random, 128) })),
        json([{ type: 'face', embedding_vector: numbers(random, 127) }]),
      ]),
    }),
  (_random, { key, usedEnvelope }) => ({
    kind: 'replayed',
    path: 'FACE3_1/predict',
    headers: { 'x-api-key': key },
    body: json({ features: usedEnvelope }),
    expect: FEATURES,
  }),
  (random, { key }) => ({
    kind: 'encryption version',
    path: `FACE3_1/${pick(random, SEALED)}`,
    headers: { 'x-api-key': key, 'x-encryption-version': pick(random, ['0', '2', 'x', '1.0', '-1', '']) },
    body: '{"features":"x"}',
    expect: FEATURES,
  }),
  (random, { key }) => ({
    kind: 'delete',
    path: 'FACE3_1/deleteUser',
    headers: { 'x-api-key': key },
    body: json({
      puid: pick<unknown>(random, ['x', 5, {}, [], true, '-1', 'a..b.c.d', '019f1c2e-7a40-7b3c-8f00-5d2b9c41e6aa']),
    }),
    expect: ['400/400'],
  }),
  (_random, { key }) => ({
    kind: 'delete nobody',
    path: 'FACE3_1/deleteUser',
    headers: { 'x-api-key': key },
    body: '{}',
    expect: ['500/-2'],
  }),
]
