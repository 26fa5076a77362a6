import {
  EVALUATION_BYTES,
  HEADER_BYTES,
  LINEAR_BYTES,
  NUMBER_BYTES,
  SHORT_BYTES,
  TOKEN_PARAMETERS,
} from './parameters.ts'

const { n, linearTests, shortTests } = TOKEN_PARAMETERS

export type TestKind = 'linear' | 'short' | 'cross'

/** A test inside an evaluation: four elements from `offset` on, then a number for each opened coefficient. */
export interface ProbeTest {
  kind: TestKind
  offset: number
  positions: readonly number[]
}

const FIRST = HEADER_BYTES + 2 * NUMBER_BYTES
/** The probe's numbers stand at 0 to 511, so that these two sums use different weights: they are independent. */
const SHORT_POSITIONS = [0, n / 2]

export function testsOf(isEnrolment: boolean): ProbeTest[] {
  const tests: ProbeTest[] = []
  for (let index = 0; index < linearTests; index++) {
    tests.push({ kind: 'linear', offset: FIRST + index * LINEAR_BYTES, positions: [0] })
  }
  for (let index = 0; index < shortTests; index++) {
    const offset = FIRST + linearTests * LINEAR_BYTES + index * SHORT_BYTES
    tests.push({ kind: 'short', offset, positions: SHORT_POSITIONS })
  }
  if (isEnrolment) tests.push({ kind: 'cross', offset: EVALUATION_BYTES, positions: [0] })
  return tests
}
