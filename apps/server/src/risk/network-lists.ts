import { createRangesBuilder, type NetworkRanges, parseNetwork } from './network-ranges.ts'

/** The lists that an operator may give, each in a file of this name. */
export const NETWORK_LISTS = {
  tor: 'tor.txt',
  datacenter: 'datacenter.txt',
  countries: 'countries.csv',
} as const
export type NetworkListName = keyof typeof NETWORK_LISTS

export type NetworkLists = Partial<Record<NetworkListName, NetworkRanges>>

/** What the lists say about an address. The address itself goes no further. */
export interface NetworkFacts {
  tor: boolean
  datacenter: boolean
  /** Two capital letters, or null if no list says. */
  country: string | null
}

export function lookUpNetwork(lists: NetworkLists, address: string): NetworkFacts {
  const find = (name: NetworkListName) => lists[name]?.find(address) ?? 0
  const country = find('countries')
  return {
    tor: find('tor') > 0,
    datacenter: find('datacenter') > 0,
    country: country === 0 ? null : countryOf(country),
  }
}

/** Lines that are read at a stretch: some milliseconds. */
const STRETCH_LINES = 2_000

/**
 * Reads a list: one network per line, `#` begins a comment; in the list of countries a comma and two letters follow. Throws an Error
 * that names the line, never what stands there. Pauses regularly, so that a server can answer meanwhile.
 */
export function* parseNetworkList(name: NetworkListName, text: string): Generator<void, NetworkRanges> {
  const parse = name === 'countries' ? parseCountry : parseMember
  const builder = createRangesBuilder()
  let number = 0
  let networks = 0
  for (const line of linesOf(text)) {
    number++
    if (number % STRETCH_LINES === 0) yield
    const entry = line.replace(/#.*/, '').trim()
    if (entry === '') continue
    try {
      const { network, value } = parse(entry)
      builder.add(network, value)
    } catch (error) {
      throw new Error(`line ${number} ${(error as Error).message}`)
    }
    networks++
  }
  // A download that failed leaves an empty file. Taken as a list, it would switch the flag off without a word.
  if (networks === 0) throw new Error('has no network in it')
  return yield* builder.build()
}

/** Not `split`: a file of half a million lines would be held a second time, and in one go. */
function* linesOf(text: string): Generator<string> {
  let from = text.startsWith('\ufeff') ? 1 : 0
  while (from < text.length) {
    const end = text.indexOf('\n', from)
    const to = end < 0 ? text.length : end
    yield text.slice(from, to)
    from = to + 1
  }
}

const parseMember = (entry: string) => ({ network: parseNetwork(entry), value: 1 })

function parseCountry(entry: string) {
  const [network = '', country = '', ...rest] = entry.split(',').map((part) => part.trim())
  if (rest.length > 0 || !/^[A-Za-z]{2}$/.test(country))
    throw new Error('is not a network, a comma and the two letters of a country')
  return { network: parseNetwork(network), value: codeOf(country.toUpperCase()) }
}

const LETTERS = 26
const A = 'A'.charCodeAt(0)

/** AA is 1, ZZ is 676: 0 means that no network was found. */
function codeOf(country: string): number {
  return (country.charCodeAt(0) - A) * LETTERS + (country.charCodeAt(1) - A) + 1
}

function countryOf(value: number): string {
  return String.fromCharCode(A + Math.floor((value - 1) / LETTERS), A + ((value - 1) % LETTERS))
}
