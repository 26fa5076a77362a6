/** For test vectors, measures and tests of other packages. No app may import it: it makes tokens whose randomness is known. */
export { createProbeFrom, createTokenFrom } from '../create.ts'
export { type Opened, openEvaluation } from '../judge.ts'
export { type BothShares, withConstantTests, withForeignTest, withShift } from './cheating.ts'
export { createRepeatable } from './fixtures.ts'
export { type Noise, noiseOf } from './noise.ts'
