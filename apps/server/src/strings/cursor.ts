import { readCursor, writeCursor } from '../platform/cursor.ts'
import { invalid } from '../platform/errors.ts'
import { isId } from '../platform/ids.ts'

const ORDERS = ['asc', 'desc'] as const
export type Order = (typeof ORDERS)[number]

/** The cursor of a page: the order of the list and the last record. */
export function writeStringCursor(order: Order, lastId: string): string {
  return writeCursor(order, lastId)
}

export function readStringCursor(cursor: string, order: Order | undefined): { order: Order; lastId: string } {
  const position = readCursor(cursor, ([first, lastId = '']) => {
    const written = ORDERS.find((one) => one === first)
    return written && isId(lastId) ? { order: written, lastId } : undefined
  })
  if (order !== undefined && order !== position.order) throw invalid('/query/order', 'is not the order of this cursor')
  return position
}
