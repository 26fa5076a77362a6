import type { Static } from 'typebox'
import type { EnrollReply, PlainEnrollReply, PlainPredictReply, PredictReply } from '../node.ts'
import type { OperationExamples } from './example.ts'

const puid = '01a1df14-1e00-7c1f-9a53-6c7a1d1f0b9e'
const guid = '01a1de02-7b40-7f57-8a6c-2a0c6f2f7f11'
/** Compact JWEs are longer than anybody wants to read. */
const sealed = 'eyJhbGciOiJkaXIiLCJlbmMiOiJBMjU2R0NNIn0..…'

const enrolled: Static<typeof PlainEnrollReply> = {
  status: 0,
  statusCode: 200,
  message: 'Ok',
  puid,
  guid,
  enroll_level: 1,
}
const recognised: Static<typeof PlainPredictReply> = { ...enrolled, score: 0.99 }
const unknown: Static<typeof PlainPredictReply> = {
  status: -1,
  statusCode: 200,
  message: 'User not enrolled',
  puid: '-1',
  guid: '-1',
  score: -1,
}
const sealedEnrolled: Static<typeof EnrollReply> = {
  status: 0,
  message: 'Ok',
  enroll_level: 1,
  puid: sealed,
  guid: sealed,
  score: 0.99,
}
const sealedRecognised: Static<typeof PredictReply> = sealedEnrolled
const sealedUnknown: Static<typeof PredictReply> = {
  status: -1,
  message: 'User not enrolled',
  puid: '-1',
  guid: '-1',
  score: '-1',
}

export const NODE_EXAMPLES = {
  checkNodeKey: { request: { 'The key is in the header': {} } },
  nodeEnroll: { replies: { 200: { 'A new user': sealedEnrolled } } },
  nodePlainEnroll: {
    replies: {
      200: { 'A new user': enrolled, 'Known before': { ...enrolled, message: 'User Already Enrolled' } },
    },
  },
  nodePredict: { replies: { 200: { Recognised: sealedRecognised, 'Nobody known': sealedUnknown } } },
  nodePlainPredict: { replies: { 200: { Recognised: recognised, 'Nobody known': unknown } } },
} as const satisfies Record<string, OperationExamples>
