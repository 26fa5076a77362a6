/** Invented identity documents: their holders, and what is printed on their sides. tests/puppet draws them. */
import { checkDigit, type Day } from '@ostiary/documents'

export interface Holder {
  familyName: string
  givenNames: string
  number: string
  birth: Day
  expiry: Day
}

/** One side of a document, as tests/puppet draws it. */
export interface DocumentSide {
  side: 'TD3' | 'TD1_FRONT' | 'TD1_BACK' | 'LICENCE_FRONT' | 'LICENCE_BACK'
  /** The lines of the machine-readable zone. */
  zone?: readonly string[]
  /** The text of the PDF417 barcode. */
  barcode?: string
  words?: readonly string[]
  /** Name of a portrait, as the puppet knows it: `figure`, `baseline`, or a path. */
  portrait?: string
  portraitIs?: 'printed' | 'pasted'
  /** The paper of another seed has other colours. */
  seed?: number
}

/** Names and numbers belong to nobody. Another seed gives another person. */
export function inventHolder({ birth, expiry, seed = 0 }: { birth: Day; expiry: Day; seed?: number }): Holder {
  const pick = (words: readonly string[], step: number) => words[(seed * 7 + step) % words.length] ?? ''
  return {
    familyName: pick(['OSTERWYND', 'QUILLFARE', 'VANTRESK', 'BRAMBLOCH'], 0),
    givenNames: pick(['MIRELDA', 'JORVIK', 'TAMSINE', 'ELDRIC'], 1),
    number: `X${String(4_071_826 + seed * 13_577).padStart(8, '0')}`.slice(0, 9),
    birth,
    expiry,
  }
}

export interface ZoneOptions {
  /** The check digit of the date of birth does not fit. */
  failingDigit?: boolean
}

/** The page of a passport, with its portrait. */
export function passportPage(
  holder: Holder,
  { portrait, failingDigit }: ZoneOptions & { portrait?: string },
): DocumentSide {
  return {
    side: 'TD3',
    zone: passportZone(holder, { failingDigit: failingDigit ?? false }),
    ...printed(holder, portrait),
  }
}

/** Front and back of an identity card. */
export function identityCard(
  holder: Holder,
  { portrait, failingDigit }: ZoneOptions & { portrait?: string },
): { front: DocumentSide; back: DocumentSide } {
  return {
    front: { side: 'TD1_FRONT', ...printed(holder, portrait) },
    back: { side: 'TD1_BACK', zone: cardZone(holder, { failingDigit: failingDigit ?? false }) },
  }
}

/** Front and back of a North American driving licence. */
export function drivingLicence(
  holder: Holder,
  { portrait }: { portrait?: string },
): { front: DocumentSide; back: DocumentSide } {
  return {
    front: { side: 'LICENCE_FRONT', ...printed(holder, portrait) },
    back: { side: 'LICENCE_BACK', barcode: licenceText(holder) },
  }
}

export function passportZone(holder: Holder, { failingDigit }: ZoneOptions = {}): string[] {
  const second = `${personLine(holder, failingDigit)}${'<'.repeat(14)}0`
  const composite = checkDigit(second.slice(0, 10) + second.slice(13, 20) + second.slice(21))
  return [`P<UTO${namesOf(holder)}`.padEnd(44, '<'), second + composite]
}

export function cardZone(holder: Holder, { failingDigit }: ZoneOptions = {}): string[] {
  const first = `I<UTO${withDigit(holder.number.padEnd(9, '<'))}`.padEnd(30, '<')
  const birth = shortDay(holder.birth)
  const second = `${birth}${digitOf(birth, failingDigit)}F${withDigit(shortDay(holder.expiry))}UTO`.padEnd(29, '<')
  const composite = checkDigit(first.slice(5) + second.slice(0, 7) + second.slice(8, 15) + second.slice(18, 29))
  return [first, second + composite, namesOf(holder).padEnd(30, '<')]
}

export function licenceText({ familyName, givenNames, number, birth, expiry }: Holder): string {
  const americanDay = (day: Day) => day.slice(5, 7) + day.slice(8) + day.slice(0, 4)
  const elements = [
    `DAQ${number}`,
    `DCS${familyName}`,
    `DAC${givenNames}`,
    `DBB${americanDay(birth)}`,
    `DBA${americanDay(expiry)}`,
    'DAJCA',
    'DCGUSA',
  ]
  const body = `DL${elements.join('\n')}\r`
  return `@\n\x1e\rANSI 636014100001DL0031${String(body.length).padStart(4, '0')}${body}`
}

function printed({ familyName, givenNames, number, birth, expiry }: Holder, portrait: string | undefined) {
  const words = ['UTOPIA', familyName, givenNames, number, birth.replaceAll('-', ' '), expiry.replaceAll('-', ' ')]
  return portrait === undefined ? { words } : { words, portrait }
}

function personLine({ number, birth, expiry }: Holder, failingDigit: boolean | undefined): string {
  const short = shortDay(birth)
  return `${withDigit(number.padEnd(9, '<'))}UTO${short}${digitOf(short, failingDigit)}F${withDigit(shortDay(expiry))}`
}

const namesOf = ({ familyName, givenNames }: Holder) => `${familyName}<<${givenNames.replaceAll(' ', '<')}`
const shortDay = (day: Day) => day.slice(2).replaceAll('-', '')
const withDigit = (text: string) => text + checkDigit(text)
const digitOf = (text: string, isWrong = false) =>
  isWrong ? String((Number(checkDigit(text)) + 1) % 10) : checkDigit(text)
