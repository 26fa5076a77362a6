export { createProbe, createToken, type EnrolledToken } from './create.ts'
export { type EvaluationInput, evaluate } from './evaluate.ts'
export { probeFault, TokenFormatError, tokenIdOf } from './format.ts'
export { ATTACK_EVENTS, type AttackEvent, cosineOf, type JudgeInput, type Judgement, judge } from './judge.ts'
export {
  ENROLMENT_EVALUATION_BYTES,
  EVALUATION_BYTES,
  FORMAT,
  FORMAT_SCORE_HIDDEN,
  KEY_SHARE_BYTES,
  MATCHER_SHARE_BYTES,
  MODEL_FACE3_3,
  PROBE_BYTES,
  PUBLIC_KEY_BYTES,
  TOKEN_BYTES,
  TOKEN_PARAMETERS,
} from './parameters.ts'
export { quantise } from './quantise.ts'
