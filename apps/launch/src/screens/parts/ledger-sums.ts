import type { LedgerEntry, LedgerKind } from '../../ledger/ledger.ts'

/** What left the device of one kind. */
export interface LedgerSum {
  kind: LedgerKind
  requests: number
  bytesOut: number
}

/** What says most about the user comes first. */
const ORDER: readonly LedgerKind[] = ['submit', 'call', 'model', 'page']

/** One line for each kind there is. */
export function sumsOf(entries: readonly LedgerEntry[]): LedgerSum[] {
  return ORDER.flatMap((kind) => {
    const ofKind = entries.filter((entry) => entry.kind === kind)
    return ofKind.length > 0 ? [{ kind, requests: ofKind.length, bytesOut: bytesOf(ofKind) }] : []
  })
}

export function bytesOf(entries: readonly LedgerEntry[]): number {
  return entries.reduce((sum, { bytesOut }) => sum + bytesOut, 0)
}

/** Bytes below a thousand, kilobytes above, in the words of the language. */
export function sizeText(bytes: number, locale: string): string {
  const small = bytes < 1000
  return new Intl.NumberFormat(locale, {
    style: 'unit',
    unit: small ? 'byte' : 'kilobyte',
    unitDisplay: small ? 'long' : 'short',
    maximumFractionDigits: 1,
  }).format(small ? bytes : bytes / 1000)
}
