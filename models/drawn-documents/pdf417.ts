import bwip from 'bwip-js/node'

/** A PDF417 barcode: rows of dark and light modules. A row is three modules high. */
export interface Barcode {
  columns: number
  rows: number
  isDark(column: number, row: number): boolean
}

export const ROW_HEIGHT_MODULES = 3

export function drawPdf417(text: string, { columns = 14, errorLevel = 5 } = {}): Barcode {
  // The types of bwip-js lack the options of single barcodes.
  const options = { bcid: 'pdf417', text, columns, eclevel: errorLevel, binarytext: true }
  const [drawn] = bwip.raw(options)
  if (!drawn || !('pixs' in drawn)) throw new Error('bwip-js drew no matrix')
  const { pixs, pixx } = drawn
  return {
    columns: pixx,
    rows: pixs.length / pixx,
    isDark: (column, row) => pixs[row * pixx + column] === 1,
  }
}
