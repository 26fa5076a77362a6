/**
 * Format 1. Module-LWE over Z[z]/(z^1024 + 1) with rank 4 and modulus 2^88; a ciphertext's phase is the message plus t times
 * the noise.
 */
export const TOKEN_PARAMETERS = Object.freeze({
  /** Coefficients of a ring element. */
  n: 1024,
  /** Ring elements of the secret. */
  k: 4,
  qBits: 88,
  /** The message modulus: scores and norms are exact while they stay within ±(t - 1) / 2. */
  t: 12289,
  /** Numbers of a face vector: coefficients 0 to 511. The other 512 are zero, and the linear tests check that. */
  dimension: 512,
  /** The length of a quantised vector. */
  scale: 50,
  /** An honest vector's squared length is within this of scale^2. */
  quantiseTolerance: 0.005,
  /** A probe whose squared length is further from scale^2 is an attack: an honest browser cannot make one. */
  normTolerance: 0.02,
  /** Noise is the difference of the set bits of two words of so many bits. */
  noiseBits: 21,
  /** Each opens to 0 for an honest probe, to a random number mod t for one that uses an unused coefficient. */
  linearTests: 2,
  /** Random signed sums of the probe's numbers, `shortPositions` per test. They are small only for short vectors. */
  shortTests: 16,
  shortPositions: 2,
  /** In standard deviations of an honest value. */
  shortMax: 6,
  shortRmsMax: 1.5,
})

export const FORMAT = 1
/** Reserved for a version in which the key holder does not see the score. This version refuses it. */
export const FORMAT_SCORE_HIDDEN = 2
/** The vectors of the face net in use: 512 numbers. */
export const MODEL_FACE3_3 = 1

export const RING_BYTES = (TOKEN_PARAMETERS.n * TOKEN_PARAMETERS.qBits) / 8
export const NUMBER_BYTES = TOKEN_PARAMETERS.qBits / 8
export const TOKEN_ID_BYTES = 16
export const SEED_BYTES = 32
/** Two letters, format, model and token id. */
export const HEADER_BYTES = 4 + TOKEN_ID_BYTES

const { k, linearTests, shortTests, shortPositions } = TOKEN_PARAMETERS
/** The parts of s_i conj(s_j) with i <= j; the others are their conjugates. */
export const PAIRS = (k * (k + 1)) / 2

export const TOKEN_BYTES = HEADER_BYTES + SEED_BYTES + RING_BYTES
export const PUBLIC_KEY_BYTES = HEADER_BYTES + SEED_BYTES + k * RING_BYTES
export const PROBE_BYTES = HEADER_BYTES + (k + 1) * RING_BYTES
export const MATCHER_SHARE_BYTES = HEADER_BYTES + SEED_BYTES
export const KEY_SHARE_BYTES = HEADER_BYTES + (k + PAIRS) * RING_BYTES

export const LINEAR_BYTES = k * RING_BYTES + NUMBER_BYTES
export const SHORT_BYTES = k * RING_BYTES + shortPositions * NUMBER_BYTES
export const EVALUATION_BYTES = HEADER_BYTES + 2 * NUMBER_BYTES + linearTests * LINEAR_BYTES + shortTests * SHORT_BYTES
/** With the cross test of token and self-probe. */
export const ENROLMENT_EVALUATION_BYTES = EVALUATION_BYTES + LINEAR_BYTES
