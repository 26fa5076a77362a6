import { invalid } from './errors.ts'

/**
 * A cursor names the last item of a page, so that the next page begins after it. It is opaque to clients, not secret. No part may
 * contain a colon.
 */
export function writeCursor(...parts: readonly (string | number)[]): string {
  return Buffer.from(parts.join(':')).toString('base64url')
}

/** `parse` gets the parts that were written, and returns undefined for parts that no page of this list can have written. */
export function readCursor<T>(cursor: string, parse: (parts: readonly string[]) => T | undefined): T {
  const position = parse(Buffer.from(cursor, 'base64url').toString().split(':'))
  if (position === undefined) throw invalid('/query/cursor', 'is not a cursor from an earlier page')
  return position
}

/** For lists whose position is an id alone. */
export function readIdCursor(cursor: string, isId: (text: string) => boolean): string {
  return readCursor(cursor, (parts) => {
    const id = parts.join(':')
    return isId(id) ? id : undefined
  })
}
