import { invalid } from '../platform/errors.ts'
import { isId } from '../platform/ids.ts'

export type Order = 'asc' | 'desc'

/** A cursor names the last record of a page and the order of the list. It is opaque to clients, not secret. */
export function writeCursor(order: Order, lastId: string): string {
  return Buffer.from(`${order}:${lastId}`).toString('base64url')
}

export function readCursor(cursor: string, order: Order | undefined): { order: Order; lastId: string } {
  const [cursorOrder, lastId = ''] = Buffer.from(cursor, 'base64url').toString().split(':')
  if ((cursorOrder !== 'asc' && cursorOrder !== 'desc') || !isId(lastId)) {
    throw invalid('/query/cursor', 'is not a cursor from an earlier page')
  }
  if (order !== undefined && order !== cursorOrder) throw invalid('/query/order', 'is not the order of this cursor')
  return { order: cursorOrder, lastId }
}
