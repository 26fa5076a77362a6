/**
 * Opens the published test vectors of the homomorphic token with nothing but the definition: big integers, products by hand, no code
 * of Ostiary. It is slow on purpose and takes some seconds. Node 24 runs it as it is.
 *
 *   node docs/examples/token/open.ts docs/token-test-vectors.json
 *
 * Elements are polynomials of 1,024 coefficients modulo 2^88 with z^1024 = -1. conj takes z to 1/z. With the whole secret s, the phase
 * of a token is X = b + sum a_i s_i and that of a probe is Y = v + sum u_j s_j. Modulo 12289 they are the two vectors.
 */
import { createCipheriv, createHash, hkdfSync } from 'node:crypto'
import { readFileSync } from 'node:fs'

const N = 1024
const RANK = 4
const T = 12289n
const COEFFICIENT_BYTES = 11
const ELEMENT_BYTES = N * COEFFICIENT_BYTES
/** Two letters, format, model, token id. */
const HEADER_BYTES = 20
const SEED_BYTES = 32

type Element = bigint[]

export interface OpenedVector {
  /** Decrypted with both shares: 1,024 numbers, of which the last 512 are zero. */
  enrolled: number[]
  fresh: number[]
  /** What the key holder reads from the matcher's evaluation with its own share. */
  score: number
  probeNorm: number
  linear: number[]
  short: number[]
  cross: number[]
}

export interface Messages {
  token: Uint8Array
  probe: Uint8Array
  matcherShare: Uint8Array
  keyShare: Uint8Array
  /** May be cut off after any test: what is there is opened. */
  evaluation: Uint8Array
}

export function openMessages({ token, probe, matcherShare, keyShare, evaluation }: Messages): OpenedVector {
  const a = expand(seedOf(token), 'token masks', RANK)
  const b = readElement(token, HEADER_BYTES + SEED_BYTES)
  const [v = [], ...u] = readElements(probe, HEADER_BYTES, 1 + RANK)
  const own = readElements(keyShare, HEADER_BYTES, 14)
  const secret = expand(seedOf(matcherShare), 'matcher share', 14).map((element, i) => add(element, own[i] ?? []))
  checkSecret(secret)

  const s = secret.slice(0, RANK)
  const X = s.reduce((sum, part, i) => add(sum, multiply(part, a[i] ?? [])), b)
  const Y = s.reduce((sum, part, j) => add(sum, multiply(part, u[j] ?? [])), v)

  // The key holder's part of (X conj(Y))_0: every term that has a share in it. H_i belongs to a_i, and H to b.
  const conjugates = u.map(conjugate)
  const H = own
    .slice(0, RANK)
    .reduce((sum, part, j) => add(sum, multiply(conjugates[j] ?? [], conjugate(part))), zero())
  const Hs = own
    .slice(0, RANK)
    .map((part, i) =>
      conjugates.reduce((sum, uj, j) => add(sum, multiply(uj, pairOf(own, i, j))), multiply(part, conjugate(v))),
    )
  const partOf = (constant: Element, masks: readonly Element[]) =>
    masks.reduce((sum, mask, i) => sum + coefficient(mask, Hs[i] ?? [], 0), coefficient(constant, H, 0))
  return {
    enrolled: X.map(message),
    fresh: Y.map(message),
    score: message(readCoefficient(evaluation, HEADER_BYTES) + partOf(b, a)),
    probeNorm: message(readCoefficient(evaluation, HEADER_BYTES + COEFFICIENT_BYTES) + partOf(v, u)),
    ...openTests(evaluation, keyShare),
  }
}

/** Two linear tests with one number each, 16 short tests with two, and at an enrolment one cross test with one. */
export function openTests(evaluation: Uint8Array, keyShare: Uint8Array) {
  const own = readElements(keyShare, HEADER_BYTES, RANK)
  const opened = { linear: [] as number[], short: [] as number[], cross: [] as number[] }
  let at = HEADER_BYTES + 2 * COEFFICIENT_BYTES
  for (let index = 0; index < 19; index++) {
    const kind = index < 2 ? 'linear' : index < 18 ? 'short' : 'cross'
    const positions = kind === 'short' ? [0, N / 2] : [0]
    const numbers = at + RANK * ELEMENT_BYTES
    const next = numbers + positions.length * COEFFICIENT_BYTES
    if (next > evaluation.length) break
    const c = readElements(evaluation, at, RANK)
    for (const [n, position] of positions.entries()) {
      const part = c.reduce((sum, element, j) => sum + coefficient(element, own[j] ?? [], position), 0n)
      opened[kind].push(message(readCoefficient(evaluation, numbers + n * COEFFICIENT_BYTES) + part))
    }
    at = next
  }
  return opened
}

/** The secret's numbers are -1, 0 and 1, and the other ten elements are the products s_i conj(s_j). */
function checkSecret(secret: readonly Element[]): void {
  const s = secret.slice(0, RANK)
  if (s.some((element) => element.some((value) => value > 1n && value !== modulo(-1n))))
    throw new Error('The shares do not add up to a secret')
  for (let i = 0; i < RANK; i++) {
    for (let j = i; j < RANK; j++) {
      const product = multiply(s[i] ?? [], conjugate(s[j] ?? []))
      if (product.some((value, at) => value !== pairOf(secret, i, j)[at]))
        throw new Error('The shares do not add up to products of the secret')
    }
  }
}

/** s_i conj(s_j) is stored for i <= j, after the four s_i. The others are conjugates of those. */
function pairOf(elements: readonly Element[], i: number, j: number): Element {
  if (i > j) return conjugate(pairOf(elements, j, i))
  const order = ['00', '01', '02', '03', '11', '12', '13', '22', '23', '33']
  return elements[RANK + order.indexOf(`${i}${j}`)] ?? []
}

const zero = (): Element => new Array<bigint>(N).fill(0n)
const modulo = (value: bigint): bigint => BigInt.asUintN(88, value)
const add = (one: Element, other: Element): Element => one.map((value, i) => modulo(value + (other[i] ?? 0n)))
const conjugate = (element: Element): Element =>
  element.map((value, i) => (i === 0 ? value : modulo(-(element[N - i] ?? 0n))))

function multiply(one: Element, other: Element): Element {
  const product = zero()
  for (const [i, x] of one.entries()) {
    // A number just below 2^88 stands for a negative one; taken so, the products of the secret stay short.
    const value = BigInt.asIntN(88, x)
    if (value === 0n) continue
    for (let j = 0; j < N; j++) {
      const term = value * (other[j] ?? 0n)
      if (i + j < N) product[i + j] = (product[i + j] ?? 0n) + term
      else product[i + j - N] = (product[i + j - N] ?? 0n) - term
    }
  }
  return product.map(modulo)
}

/** One coefficient of a product. */
function coefficient(one: Element, other: Element, position: number): bigint {
  return one.reduce((sum, value, i) => {
    const at = position - i
    return at >= 0 ? sum + value * (other[at] ?? 0n) : sum - value * (other[at + N] ?? 0n)
  }, 0n)
}

/** A phase around zero, then modulo t around zero. */
function message(phase: bigint): number {
  const rest = ((BigInt.asIntN(88, phase) % T) + T) % T
  return Number(rest > T / 2n ? rest - T : rest)
}

const seedOf = (bytes: Uint8Array) => bytes.subarray(HEADER_BYTES, HEADER_BYTES + SEED_BYTES)

function expand(seed: Uint8Array, label: string, count: number): Element[] {
  const key = Buffer.from(hkdfSync('sha256', seed, new Uint8Array(), `ostiary token 1 ${label}`, 32))
  const bytes = createCipheriv('aes-256-ctr', key, Buffer.alloc(16)).update(Buffer.alloc(count * ELEMENT_BYTES))
  return readElements(bytes, 0, count)
}

function readElements(bytes: Uint8Array, offset: number, count: number): Element[] {
  return Array.from({ length: count }, (_, i) => readElement(bytes, offset + i * ELEMENT_BYTES))
}

function readElement(bytes: Uint8Array, offset: number): Element {
  return Array.from({ length: N }, (_, i) => readCoefficient(bytes, offset + i * COEFFICIENT_BYTES))
}

function readCoefficient(bytes: Uint8Array, offset: number): bigint {
  const littleEndian = bytes.subarray(offset, offset + COEFFICIENT_BYTES)
  return BigInt(`0x${Buffer.from(littleEndian.toReversed()).toString('hex')}`)
}

if (import.meta.main) {
  const file = JSON.parse(readFileSync(process.argv[2] ?? 'docs/token-test-vectors.json', 'utf8'))
  const bytes = (name: string) => new Uint8Array(Buffer.from(file[name], 'base64'))
  const opened = openMessages({
    token: bytes('token'),
    probe: bytes('probe'),
    matcherShare: bytes('matcher_share'),
    keyShare: bytes('key_share'),
    evaluation: bytes('evaluation_start'),
  })
  const digest = (name: string) => createHash('sha256').update(bytes(name)).digest('hex')
  const found: Record<string, string> = {
    token_sha256: digest('token'),
    probe_sha256: digest('probe'),
    enrolled: opened.enrolled.slice(0, 512).join(' '),
    fresh: opened.fresh.slice(0, 512).join(' '),
    unused: [...opened.enrolled.slice(512), ...opened.fresh.slice(512)].every((value) => value === 0) ? 'zero' : 'used',
    score: String(opened.score),
    probe_norm: String(opened.probeNorm),
    linear: opened.linear.join(' '),
    // The file has the start of the evaluation: two of the 32 sums.
    short: opened.short.join(' '),
  }
  let differing = 0
  for (const [name, value] of Object.entries(found)) {
    const expected = String(file[name] ?? file.opened[name] ?? 'zero')
    const isRight = name === 'short' ? expected.startsWith(`${value} `) : expected === value
    if (!isRight) differing++
    console.log(
      `${isRight ? 'as published' : 'DIFFERENT   '}  ${name}: ${value.length > 70 ? `${value.slice(0, 70)}…` : value}`,
    )
  }
  process.exitCode = differing === 0 ? 0 : 1
}
