import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createConfig, lintFromString } from '@redocly/openapi-core'
import * as contract from './index.ts'
import { ERRORS, NODE_ERRORS, OPERATIONS, toOpenApi, VERSION } from './index.ts'

const document = toOpenApi(OPERATIONS, { title: 'Ostiary', version: VERSION })

test('the OpenAPI document passes the recommended rules of an independent linter', async () => {
  const config = await createConfig({ extends: ['recommended'], rules: { 'operation-4xx-response': 'off' } })
  const problems = await lintFromString({ source: JSON.stringify(document), config })
  assert.deepEqual(
    problems.map(({ ruleId, message }) => `${ruleId}: ${message}`),
    [],
  )
})

test('every operation has an id, a summary, a description and its errors', () => {
  const ids = OPERATIONS.map((op) => op.operationId)
  assert.equal(new Set(ids).size, ids.length)
  for (const op of OPERATIONS) {
    assert.ok(op.summary.length > 0 && op.description.endsWith('.'), op.operationId)
    for (const code of op.errors) assert.ok(code in ERRORS)
    for (const code of op.nodeErrors ?? []) assert.ok(code in NODE_ERRORS)
  }
})

test('every operation that a file of the contract exports is in the list of its area', () => {
  const exported = Object.values(contract).flatMap((value) =>
    typeof value === 'object' && 'operationId' in value ? [value.operationId] : [],
  )
  assert.deepEqual(exported.toSorted(), OPERATIONS.map(({ operationId }) => operationId).toSorted())
})

test('a titled schema is written once and referred to', () => {
  const text = JSON.stringify(document)
  const { components } = document as { components: { schemas: Record<string, unknown> } }
  assert.deepEqual(Object.keys(components.schemas), [
    'AccessToken',
    'AgeResult',
    'Brand',
    'Callback',
    'ConfirmedReturn',
    'ConfirmReturn',
    'ContactInformation',
    'CreatedSession',
    'CreatedVerification',
    'CreateException',
    'CreateSession',
    'CreateString',
    'CreateVerification',
    'Dataset',
    'DatasetList',
    'Descriptor',
    'DeviceKey',
    'Error',
    'ErrorDetail',
    'Exception',
    'ExceptionPage',
    'Feature',
    'Health',
    'Indicators',
    'InvalidApiKey',
    'Language',
    'LanguageList',
    'LaunchChallenge',
    'LaunchEvent',
    'LaunchHandoff',
    'LaunchOpen',
    'LaunchState',
    'ListedMatch',
    'MatchedRecord',
    'MatchExplanation',
    'NodeDeleteReply',
    'NodeEnrollReply',
    'NodeError',
    'NodeKeyValid',
    'NodePlainEnrollReply',
    'NodePlainPredictReply',
    'NodePredictReply',
    'OAuthError',
    'OpenedSession',
    'PasskeyOptions',
    'ProcessState',
    'ReplayedWebhooks',
    'ReplayWebhooks',
    'RiskEvaluation',
    'RiskSignal',
    'RowResult',
    'ScreenForm',
    'ScreenReply',
    'SessionPage',
    'SessionProgress',
    'SessionSummary',
    'SetOutcome',
    'SilencedMatch',
    'StringPage',
    'StringRecord',
    'TokenRequest',
    'VerificationFacts',
    'VerificationPage',
    'VerificationSummary',
    'VerificationWebhook',
    'WebhookAttempt',
    'WebhookDelivery',
    'WebhookDeliveryDetails',
    'WebhookDeliveryPage',
    'WebhookKeySet',
    'WebhookPublicKey',
  ])
  assert.ok(text.includes('"$ref":"#/components/schemas/StringRecord"'))
  assert.ok(!text.includes('patternProperties'))
})
