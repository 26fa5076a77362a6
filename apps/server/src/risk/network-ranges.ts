import { isIPv4, isIPv6 } from 'node:net'

/** Networks with one value each, such as a country. Half a million IPv4 networks take 6 MB, and finding one of them a microsecond. */
export interface NetworkRanges {
  /** Networks, each counted once. */
  size: number
  /** The value of the smallest network that holds the address; 0 if none does, or if the text is no address. */
  find(address: string): number
}

/** A network: `words` of 32 bits, one for IPv4 and four for IPv6, of which the first `prefix` bits count. */
export interface Network {
  words: readonly number[]
  prefix: number
}

/** Reads a network such as `192.0.2.0/24` or `2001:db8::/32`; an address is a network of one. Throws an Error that says what is wrong. */
export function parseNetwork(text: string): Network {
  const [base = '', prefixText, ...rest] = text.split('/')
  const words = parseAddress(base)
  if (!words || rest.length > 0 || !/^\d{1,3}$/.test(prefixText ?? '0'))
    throw new Error('is not a network such as 192.0.2.0/24 or 2001:db8::/32')
  // `::ffff:10.0.0.0/104` would mean 10.0.0.0/8: too easily misunderstood.
  if (words.length === 1 && base.includes(':')) throw new Error('is an IPv4 network that is written as IPv6')
  const bits = words.length * WORD_BITS
  const prefix = prefixText === undefined ? bits : Number(prefixText)
  if (prefix > bits) throw new Error('has a prefix that is longer than its address')
  if (words.some((word, at) => (word & hostMask(prefix - at * WORD_BITS)) !== 0))
    throw new Error('does not begin at the first address of its network')
  return { words, prefix }
}

const WORD_BITS = 32

/** The bits of a word that lie behind the prefix. */
function hostMask(prefixBits: number): number {
  if (prefixBits <= 0) return -1
  return prefixBits >= WORD_BITS ? 0 : -1 >>> prefixBits
}

/** An IPv4-mapped IPv6 address (`::ffff:192.0.2.1`) is the IPv4 address: that is how a dual-stack socket names it. */
function parseAddress(text: string): number[] | undefined {
  if (isIPv4(text)) return [ipv4Word(text)]
  // A zone (`fe80::1%eth0`) names an interface of one machine.
  if (!isIPv6(text) || text.includes('%')) return undefined
  const words = ipv6Words(text)
  const [first, second, third, last = 0] = words
  return first === 0 && second === 0 && third === 0xffff ? [last] : words
}

function ipv4Word(text: string): number {
  let word = 0
  for (const part of text.split('.')) word = word * 256 + Number(part)
  return word
}

function ipv6Words(text: string): number[] {
  const hexadecimal = text.replace(/\d+\.\d+\.\d+\.\d+$/, (tail) => {
    const word = ipv4Word(tail)
    return `${(word >>> 16).toString(16)}:${(word & 0xffff).toString(16)}`
  })
  const [head = [], tail = []] = hexadecimal.split('::').map((half) => half.split(':').filter((group) => group !== ''))
  const groups = [...head, ...new Array<string>(8 - head.length - tail.length).fill('0'), ...tail]
  const group = (at: number) => Number.parseInt(groups[at] ?? '', 16)
  return [0, 2, 4, 6].map((at) => group(at) * 0x10000 + group(at + 1))
}

/** Collects networks. `build` pauses between its passes, so that a server can answer meanwhile. */
export function createRangesBuilder() {
  const families = [newFamily(1), newFamily(4)] as const

  return {
    /** `value` is 1 to 65535. Of two equal networks the later counts. */
    add({ words, prefix }: Network, value: number): void {
      const { starts, prefixes, values } = families[words.length === 1 ? 0 : 1]
      starts.push(...words)
      prefixes.push(prefix)
      values.push(value)
    },
    *build(): Generator<void, NetworkRanges> {
      return rangesOf(yield* sortFamily(families[0]), yield* sortFamily(families[1]))
    },
  }
}

function rangesOf(ipv4: SortedFamily, ipv6: SortedFamily): NetworkRanges {
  return {
    size: ipv4.size + ipv6.size,
    find(address) {
      const words = parseAddress(address)
      if (!words) return 0
      return findIn(words.length === 1 ? ipv4 : ipv6, words)
    },
  }
}

/** The networks of one family, in the order in which they came. */
interface Family {
  /** Words per address. */
  width: number
  starts: number[]
  prefixes: number[]
  values: number[]
}

const newFamily = (width: number): Family => ({ width, starts: [], prefixes: [], values: [] })

/**
 * The networks sorted by their first address, the wider one first. Two networks are either apart or one lies within the other, so
 * each needs only one link: `parents` has the smallest network around it, or -1.
 */
interface SortedFamily {
  size: number
  width: number
  starts: Uint32Array
  prefixes: Uint8Array
  values: Uint16Array
  parents: Int32Array
}

function findIn(family: SortedFamily, address: readonly number[]): number {
  const { size, values, parents } = family
  let low = 0
  let high = size
  while (low < high) {
    const middle = (low + high) >>> 1
    if (isAfter(family, middle, address)) high = middle
    else low = middle + 1
  }
  for (let at = low - 1; at >= 0; at = parents[at] as number) {
    if (isWithin(family, at, address, 0)) return values[at] as number
  }
  return 0
}

/** Whether a network begins after the address. */
function isAfter({ width, starts }: SortedFamily, at: number, address: readonly number[]): boolean {
  for (let word = 0; word < width; word++) {
    const difference = (starts[at * width + word] as number) - (address[word] as number)
    if (difference !== 0) return difference > 0
  }
  return false
}

/** Whether the address that begins at `from` in `words` lies in a network. */
function isWithin({ width, starts, prefixes }: SortedFamily, at: number, words: readonly number[], from: number) {
  let bits = prefixes[at] as number
  for (let word = 0; bits > 0; word++, bits -= WORD_BITS) {
    const different = (starts[at * width + word] as number) ^ (words[from + word] as number)
    if ((different & ~hostMask(bits)) !== 0) return false
  }
  return true
}

function* sortFamily(family: Family): Generator<void, SortedFamily> {
  const { width } = family
  const order = yield* sortedOrder(family)
  const sorted: SortedFamily = {
    size: 0,
    width,
    starts: new Uint32Array(order.length * width),
    prefixes: new Uint8Array(order.length),
    values: new Uint16Array(order.length),
    parents: new Int32Array(order.length),
  }
  const { starts, prefixes, values, parents } = sorted
  for (const one of order) {
    const from = one * width
    const prefix = family.prefixes[one] as number
    let parent = sorted.size - 1
    while (parent >= 0 && !isWithin(sorted, parent, family.starts, from)) parent = parents[parent] as number
    const isRepeat = parent >= 0 && prefixes[parent] === prefix
    const at = isRepeat ? parent : sorted.size++
    values[at] = family.values[one] as number
    if (isRepeat) continue
    for (let word = 0; word < width; word++) starts[at * width + word] = family.starts[from + word] as number
    prefixes[at] = prefix
    parents[at] = parent
    if (at % STRETCH === 0) yield
  }
  return sorted
}

/** Networks that are sorted in at a stretch: a few milliseconds. */
const STRETCH = 20_000

/**
 * A radix sort by 16 bits at a time, from the least significant: prefix, then the address. It keeps the order of equal networks.
 * A comparison sort of half a million networks holds the event loop for half a second; a pass of this takes some milliseconds.
 */
function* sortedOrder({ width, starts, prefixes }: Family): Generator<void, Uint32Array> {
  const count = prefixes.length
  const digits = new Uint16Array(count)
  let order = new Uint32Array(count)
  let next = new Uint32Array(count)
  for (let at = 0; at < count; at++) order[at] = at
  for (let pass = 0; pass <= 2 * width; pass++) {
    const word = width - Math.ceil(pass / 2)
    for (let at = 0; at < count; at++) {
      const whole = pass === 0 ? (prefixes[at] as number) : (starts[at * width + word] as number)
      digits[at] = pass > 0 && pass % 2 === 0 ? whole >>> 16 : whole
    }
    placeBy(digits, order, next)
    ;[order, next] = [next, order]
    yield
  }
  return order
}

/** Writes `order` into `next`, sorted by the digit of each network; those with the same digit keep their order. */
function placeBy(digits: Uint16Array, order: Uint32Array, next: Uint32Array): void {
  const places = new Uint32Array(0x10001)
  for (const digit of digits) places[digit + 1] = (places[digit + 1] as number) + 1
  for (let at = 1; at < places.length; at++) places[at] = (places[at] as number) + (places[at - 1] as number)
  for (const at of order) {
    const digit = digits[at] as number
    const place = places[digit] as number
    places[digit] = place + 1
    next[place] = at
  }
}
