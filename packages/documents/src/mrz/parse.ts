import { addDays, addYears, ageOn } from '../day.ts'
import type { Day, DocumentText, MrzFormat } from '../types.ts'
import { digitChecks, numberWithDigit } from './check-digits.ts'
import { readBirth, readExpiry, readIssueMonth } from './dates.ts'
import { findDocumentKind } from './document-codes.ts'
import { fitsLayout, MRZ_LAYOUTS, type MrzSpan, readSpan } from './layout.ts'

/**
 * Reads the fields of a machine-readable zone. Undefined when the lines are not a zone of the format: a character that the format
 * does not allow, a document code or state that is on no list, a date of expiry that is no date. Check digits that fail
 * are reported and do not prevent the rest.
 */
export function parseMrz(format: MrzFormat, lines: readonly string[], today: Day): DocumentText | undefined {
  if (!fitsLayout(format, lines)) return undefined
  const kind = findDocumentKind(format, lines)
  if (kind === undefined) return undefined
  const { fields } = MRZ_LAYOUTS[format]
  const read = (span: MrzSpan) => readSpan(lines, span)
  const birth = readBirth(read(fields.birth), today)
  const issuer = withoutFiller(read(fields.issuer))
  const expiry = fields.issued
    ? frenchExpiry(read(fields.issued), birth, today)
    : readExpiry(fields.expiry ? read(fields.expiry) : '', today)
  if (expiry === undefined) return undefined
  return {
    source: format,
    kind,
    issuer,
    number: withoutFiller(numberWithDigit(format, lines).number) || undefined,
    ...namesOf(format, lines),
    birth,
    expiry: expiry === 'none' || isPermanent(issuer, expiry, { birth, today }) ? undefined : expiry,
    checks: digitChecks(format, lines),
  }
}

function withoutFiller(text: string): string {
  return text.replaceAll('<', '')
}

/** Two fillers part the family name from the given names. A name that fills its field may have been cut. */
function namesOf(format: MrzFormat, lines: readonly string[]): Pick<DocumentText, 'familyName' | 'givenNames'> {
  const { names, familyName, givenNames } = MRZ_LAYOUTS[format].fields
  if (familyName && givenNames)
    return { familyName: spaced(readSpan(lines, familyName)), givenNames: spaced(readSpan(lines, givenNames)) }
  const text = names ? readSpan(lines, names) : ''
  const parting = text.indexOf('<<')
  if (parting < 0) return { familyName: spaced(text), givenNames: '' }
  return { familyName: spaced(text.slice(0, parting)), givenNames: spaced(text.slice(parting)) }
}

function spaced(text: string): string {
  return text.split(/<+/).filter(Boolean).join(' ')
}

/**
 * The French card prints no expiry in its zone. It is valid for ten years, and for fifteen when it was issued in 2004 or later to
 * an adult. Only the month of issue is known, so the card counts as issued on the first day of it.
 */
function frenchExpiry(issueMonth: string, birth: Day | undefined, today: Day): Day | undefined {
  const issued = readIssueMonth(issueMonth, today)
  if (issued === undefined) return undefined
  const isForAdult = birth !== undefined && ageOn(issued, birth) >= 18
  return addDays(addYears(issued, isForAdult && issued >= '2004-01-01' ? 15 : 10), -1)
}

/** Spanish cards of people of 70 or more years never expire. They print 1 January 9999, which two digits cannot say. */
function isPermanent(issuer: string, expiry: Day, { birth, today }: { birth: Day | undefined; today: Day }): boolean {
  return issuer === 'ESP' && expiry.slice(2) === '99-01-01' && birth !== undefined && ageOn(today, birth) >= 70
}
