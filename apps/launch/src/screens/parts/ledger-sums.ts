import type { LedgerEntry, LedgerKind } from '../../ledger/ledger.ts'

/** The sum of the requests of one kind. */
export interface LedgerSum {
  kind: LedgerKind
  requests: number
  bytesOut: number
}

/** The most personal kind first. */
const ORDER: readonly LedgerKind[] = ['submit', 'token', 'call', 'model', 'page']

/** One line per kind that occurs. */
export function sumsOf(entries: readonly LedgerEntry[]): LedgerSum[] {
  return ORDER.flatMap((kind) => {
    const ofKind = entries.filter((entry) => entry.kind === kind)
    return ofKind.length > 0 ? [{ kind, requests: ofKind.length, bytesOut: bytesOf(ofKind) }] : []
  })
}

export function bytesOf(entries: readonly LedgerEntry[]): number {
  return entries.reduce((sum, { bytesOut }) => sum + bytesOut, 0)
}

/** Bytes below a thousand, kilobytes above, formatted for the language. */
export function sizeText(bytes: number, locale: string): string {
  const small = bytes < 1000
  return new Intl.NumberFormat(locale, {
    style: 'unit',
    unit: small ? 'byte' : 'kilobyte',
    unitDisplay: small ? 'long' : 'short',
    maximumFractionDigits: 1,
  }).format(small ? bytes : bytes / 1000)
}
