import { toDay } from '../day.ts'
import type { Day, DocumentText } from '../types.ts'

/**
 * Reads the text of a PDF417 barcode on a driving licence or identity card of the US or Canada (AAMVA, versions 1 to 10). Undefined
 * when it is not such a text, or lacks a birth date, an expiry or a number. Offsets and lengths in the header are ignored: many
 * cards have wrong ones. Error correction of the barcode protects the text, so there are no check digits.
 */
export function parseAamva(barcode: string): DocumentText | undefined {
  const text = barcode.toUpperCase()
  const header = HEADER.exec(text)
  const body = /(DL|ID|EN)(D[A-Z]{2}[\s\S]*)$/.exec(text)
  if (!header || !body) return undefined
  const [, subfile, rest = ''] = body
  const elements = elementsOf(rest)
  const birth = readDate(elements.get('DBB'))
  const expiry = readDate(elements.get('DBA'))
  const number = elements.get('DAQ')
  if (birth === undefined || birth === 'never' || expiry === undefined || number === undefined) return undefined
  return {
    source: 'AAMVA',
    kind: subfile === 'ID' ? 'national_id' : 'drivers_license',
    issuer: `${countryOf(elements)}-${elements.get('DAJ') ?? header[1]}`,
    number,
    ...namesOf(elements),
    birth,
    expiry: expiry === 'never' ? undefined : expiry,
    checks: [],
  }
}

/** Whether a text begins as the barcodes of licences and identity cards do. */
export function isAamva(barcode: string): boolean {
  return HEADER.test(barcode.toUpperCase())
}

const HEADER = /^[^A-Z]{0,8}(?:ANSI |AAMVA)(\d{6})/

/** One element a line: three letters, then the value. An element that a card states twice with two values is not trusted. */
function elementsOf(text: string): ReadonlyMap<string, string> {
  const found = new Map<string, string>()
  const disputed = new Set<string>()
  for (const line of text.split(/[\r\n]+/)) {
    const [, name, value = ''] = /^\s*(?:DL|ID|EN)?(D[A-Z]{2})(.*)$/.exec(line) ?? []
    if (name === undefined) continue
    const trimmed = value.trim()
    if (trimmed === '') continue
    if ((found.get(name) ?? trimmed) !== trimmed) disputed.add(name)
    found.set(name, trimmed)
  }
  for (const name of disputed) found.delete(name)
  return found
}

/**
 * US cards print MMDDCCYY; Canada and version 1 print CCYYMMDD. A century is 19 or more and a month 12 or less, so only one of the
 * two is a date. Cards without an expiry print the year 9999.
 */
function readDate(text: string | undefined): Day | 'never' | undefined {
  if (text === undefined || !/^\d{8}$/.test(text)) return undefined
  const part = (start: number, end: number) => Number(text.slice(start, end))
  const day = part(0, 2) >= 19 ? toDay(part(0, 4), part(4, 6), part(6, 8)) : toDay(part(4, 8), part(0, 2), part(2, 4))
  if (day === undefined || day < '1900-01-01') return undefined
  return day >= '9999' ? 'never' : day
}

function countryOf(elements: ReadonlyMap<string, string>): string {
  const country = elements.get('DCG')
  if (country === 'CAN' || country === 'CA' || country === 'CDN') return 'CAN'
  return country === 'MEX' ? 'MEX' : 'USA'
}

/** Version 1 has one element for all names; versions 2 and 3 have one for all given names. */
function namesOf(elements: ReadonlyMap<string, string>): Pick<DocumentText, 'familyName' | 'givenNames'> {
  const whole = (elements.get('DAA') ?? '').split(',').map((part) => part.trim())
  const given = elements.get('DCT') ?? [elements.get('DAC'), elements.get('DAD')].filter(isPrinted).join(' ')
  return {
    familyName: elements.get('DCS') ?? elements.get('DAB') ?? whole[0] ?? '',
    givenNames: (given || whole.slice(1).join(' ')).replaceAll(',', ' ').trim(),
  }
}

function isPrinted(name: string | undefined): boolean {
  return name !== undefined && name !== 'NONE' && name !== 'UNAVL'
}
