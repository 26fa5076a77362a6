import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createConfig, lintFromString } from '@redocly/openapi-core'
import * as contract from './index.ts'
import { ERRORS, NODE_ERRORS, OPENAPI_PARTS, OPERATIONS, toOpenApi, VERSION } from './index.ts'

const document = toOpenApi(OPERATIONS, { title: 'Ostiary', version: VERSION }, OPENAPI_PARTS)

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

test('the groups are the areas, then what stands around them; every operation is in one', () => {
  const { tags, paths } = document as {
    tags: { name: string; description: string }[]
    paths: Record<string, Record<string, { operationId: string; tags: string[] }>>
  }
  const names = tags.map(({ name }) => name)
  assert.deepEqual(names, [
    'A. Strings',
    'B. Sanctions',
    'C. Age sessions',
    'D. Verification sessions',
    'E. Biometric node',
    'Webhooks and events',
    'Test mode',
    'Device: what the launch page calls',
    'Operations',
  ])
  assert.ok(tags.every(({ description }) => description.length > 0))
  for (const [path, methods] of Object.entries(paths)) {
    for (const { operationId, tags: own } of Object.values(methods)) {
      assert.ok(own.length === 1 && names.includes(own[0] ?? ''), operationId)
      assert.equal(path.startsWith('/launch/api/'), own[0]?.startsWith('Device'), `${operationId}: group 'device'`)
      assert.equal(path.startsWith('/test/'), own[0] === 'Test mode', `${operationId}: group 'test'`)
      assert.ok(!/^\/webhooks?\//.test(path) || own[0] === 'Webhooks and events', `${operationId}: group 'webhooks'`)
    }
  }
})

test('every reference leads to a schema, and every schema is used', () => {
  const { components } = document as { components: { schemas: Record<string, unknown> } }
  const referred = [...JSON.stringify(document).matchAll(/"#\/components\/schemas\/([^"]+)"/g)].map(([, name]) => name)
  assert.deepEqual([...new Set(referred)].sort(), Object.keys(components.schemas).sort())
})

test('the webhooks of both areas are described: five events, with the headers that every one carries', () => {
  const { webhooks } = document as { webhooks: Record<string, { post: WebhookPost }> }
  assert.deepEqual(Object.keys(webhooks), [
    'age.session.completed',
    'age.session.cancelled',
    'age.session.expired',
    'verification.succeeded',
    'verification.failed',
  ])
  for (const [name, { post }] of Object.entries(webhooks)) {
    const body = name.startsWith('age.') ? 'AgeResult' : 'VerificationWebhook'
    assert.deepEqual(post.requestBody.content['application/json'].schema, { $ref: `#/components/schemas/${body}` })
    assert.deepEqual(post.parameters[0]?.schema, { type: 'string', const: name })
    const headers = post.parameters.map((each) => each.name)
    assert.ok(headers.includes('X-Service-Timestamp') && headers.includes('X-Service-Signature'), headers.join())
    assert.ok(Object.keys(post.responses).includes('2XX'))
  }
})

interface WebhookPost {
  parameters: { name: string; schema: unknown }[]
  requestBody: { content: { 'application/json': { schema: unknown } } }
  responses: object
}

test('[D-011] area D: redirectURL is required in this spelling alone, key and client credentials are security schemes', () => {
  const { paths, components } = JSON.parse(JSON.stringify(document))
  const { required, properties } = components.schemas.CreateVerification
  assert.deepEqual(required, ['type', 'redirectURL', 'callback'])
  assert.deepEqual(['redirectURL' in properties, 'redirectUrl' in properties], [true, false])
  const schemes = Object.keys(components.securitySchemes)
  assert.deepEqual(schemes, ['apiKey', 'clientToken', 'clientBasic', 'clientID', 'clientSecret'])
  const ofD = OPERATIONS.filter(({ takesClientCredentials }) => takesClientCredentials)
  assert.ok(ofD.length >= 7)
  for (const { method, path } of ofD) {
    const { security, parameters = [] } = paths[path.replace(/:(\w+)/g, '{$1}')][method.toLowerCase()]
    assert.deepEqual(security, [
      { apiKey: [], clientToken: [] },
      { apiKey: [], clientBasic: [] },
      { apiKey: [], clientID: [], clientSecret: [] },
      { apiKey: [] },
    ])
    // OpenAPI ignores a parameter of this name: it would be no description of the credentials.
    assert.ok(!parameters.some(({ name }: { name: string }) => name === 'Authorization'))
  }
})

test('a titled schema is written once and referred to', () => {
  const text = JSON.stringify(document)
  const { components } = document as { components: { schemas: Record<string, unknown> } }
  assert.deepEqual(Object.keys(components.schemas), [
    'AccessToken',
    'AgeResult',
    'Brand',
    'Callback',
    'CaptureConditions',
    'CompleteRun',
    'ConfirmedReturn',
    'ConfirmReturn',
    'Consent',
    'ContactInformation',
    'CreatedSession',
    'CreatedVerification',
    'CreateException',
    'CreateRun',
    'CreateSession',
    'CreateString',
    'CreateVerification',
    'Dataset',
    'DatasetList',
    'Descriptor',
    'DeviceKey',
    'DocumentFacts',
    'DocumentRecord',
    'DocumentStep',
    'Error',
    'ErrorDetail',
    'EventPage',
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
    'LockedPerson',
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
    'PageLink',
    'PageLinks',
    'PasskeyOptions',
    'PersonLockout',
    'ProcessState',
    'ReplayedWebhooks',
    'ReplayWebhooks',
    'RiskEvaluation',
    'RiskSignal',
    'RowResult',
    'ScreenForm',
    'ScreeningHit',
    'ScreeningHitPage',
    'ScreeningRun',
    'ScreeningRunPage',
    'ScreenPeople',
    'ScreenReply',
    'SessionPage',
    'SessionProgress',
    'SessionSummary',
    'SetOutcome',
    'SilencedMatch',
    'StreamEvent',
    'StringPage',
    'StringRecord',
    'TokenBegun',
    'TokenEnrolled',
    'TokenProbed',
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
