import assert from 'node:assert/strict'
import type { Figure } from './figure.ts'
import { isOk } from './figure.ts'
import { appendFigures, needsSecondTry } from './gate-figures.ts'

/**
 * A bound on time or memory in a test. Run by hand, a test that exceeds it fails. In the gate it is a figure that depends on the
 * load: it is recorded and never fails. Given as a function it is measured once more when it is far too large.
 */
export async function figureAtMost(
  name: string,
  most: number,
  measured: number | (() => number | Promise<number>),
): Promise<void> {
  const measure = async (): Promise<Figure> => {
    const value = typeof measured === 'number' ? measured : await measured()
    return { name: `test.${name}`, value, floor: most, is: 'most', load: true }
  }
  const figure = await measure()
  const gateFile = process.env.OSTIARY_FIGURES
  if (gateFile === undefined) return assert.ok(isOk(figure), `${name}: ${figure.value}, at most ${most}`)
  const isRepeatable = typeof measured === 'function'
  appendFigures(gateFile, needsSecondTry([figure]) && isRepeatable ? [figure, await measure()] : [figure])
}
