import { cancelSession, createSession, deleteSession, getSession, getSessionResult, listSessions } from './age.ts'
import { listLocales } from './languages.ts'
import {
  launchCancel,
  launchChallenge,
  launchConsent,
  launchEvents,
  launchFailure,
  launchHandoff,
  launchOpen,
  launchPasskeyOptions,
  launchPasskeyVerify,
  launchStatus,
  launchSubmit,
  launchTakeBack,
} from './launch.ts'
import { checkNodeKey, nodeDeleteUser, nodeEnroll, nodePlainEnroll, nodePlainPredict, nodePredict } from './node.ts'
import { requestToken } from './oauth.ts'
import type { Operation } from './operation.ts'
import { listDatasets, screenFile } from './sanctions.ts'
import { createException, deleteException, listExceptions } from './sanctions-exceptions.ts'
import { advanceClock, failDelivery, setOutcome } from './sandbox.ts'
import { describeService, getHealth, getLivez, getOpenApi, getReadyz } from './service.ts'
import { getWebhookDelivery, listWebhookDeliveries, replayWebhookDelivery, replayWebhooks } from './webhooks.ts'
import { createString, deleteString, getString, listStrings } from './strings.ts'
import {
  cancelVerification,
  createVerification,
  deleteVerification,
  getVerification,
  getVerificationWebhook,
  listVerifications,
} from './verification.ts'

export * from './age.ts'
export * from './areas.ts'
export * from './brand.ts'
export * from './errors.ts'
export * from './keys.ts'
export * from './languages.ts'
export * from './launch.ts'
export * from './launch-payload.ts'
export * from './limits.ts'
export * from './locales.ts'
export * from './models.ts'
export * from './node.ts'
export * from './node-errors.ts'
export * from './oauth.ts'
export * from './openapi.ts'
export * from './operation.ts'
export * from './paths.ts'
export * from './indicators.ts'
export * from './risk.ts'
export * from './risk-flags.ts'
export * from './sanctions.ts'
export * from './sanctions-exceptions.ts'
export * from './sandbox.ts'
export * from './service.ts'
export * from './session-codes.ts'
export * from './session-list.ts'
export * from './settings.ts'
export * from './states.ts'
export * from './strings.ts'
export * from './verification.ts'
export * from './version.ts'
export * from './webhooks.ts'

/** Every operation of the wire, in the order of the reference. */
export const OPERATIONS: readonly Operation[] = [
  describeService,
  getHealth,
  createString,
  listStrings,
  getString,
  deleteString,
  screenFile,
  listDatasets,
  createException,
  listExceptions,
  deleteException,
  createSession,
  getSessionResult,
  getSession,
  cancelSession,
  deleteSession,
  listSessions,
  launchOpen,
  launchConsent,
  launchChallenge,
  launchEvents,
  launchSubmit,
  launchFailure,
  launchCancel,
  launchHandoff,
  launchTakeBack,
  launchPasskeyOptions,
  launchPasskeyVerify,
  launchStatus,
  createVerification,
  getVerification,
  getVerificationWebhook,
  cancelVerification,
  deleteVerification,
  listVerifications,
  requestToken,
  listLocales,
  listWebhookDeliveries,
  getWebhookDelivery,
  replayWebhookDelivery,
  replayWebhooks,
  setOutcome,
  advanceClock,
  failDelivery,
  checkNodeKey,
  nodeEnroll,
  nodePlainEnroll,
  nodePredict,
  nodePlainPredict,
  nodeDeleteUser,
  getLivez,
  getReadyz,
  getOpenApi,
]
