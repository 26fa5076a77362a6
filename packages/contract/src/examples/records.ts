/** Strings, sanctions, languages, webhooks, test mode and the service itself. */
import type { LanguageList } from '../languages.ts'
import { DEFAULT_LOCALE } from '../locale-tags.ts'
import type { Dataset, DatasetList } from '../sanctions.ts'
import type { ExceptionPage, ExceptionRecord } from '../sanctions-exceptions.ts'
import type { Health, ProcessState } from '../service.ts'
import type { StringPage, StringRecord } from '../strings.ts'
import { VERSION } from '../version.ts'
import type { WebhookDelivery, WebhookDeliveryPage } from '../webhooks.ts'
import type { OperationExamples } from './example.ts'

const recorded: StringRecord = {
  id: '019f1c2e-7a40-7b3c-8f00-5d2b9c41e6aa',
  value: 'hello',
  length: 5,
  createdAt: '2026-11-15T09:30:00.000Z',
  updatedAt: '2026-11-15T09:30:00.000Z',
  livemode: false,
}
const strings: StringPage = { items: [recorded], count: 1, nextCursor: null }

const dataset: Dataset = {
  name: 'demo',
  title: 'Invented people for trials',
  entries: 25,
  version: '2026-11-15',
  updatedAt: '2026-11-15T04:00:00.000Z',
  licence: 'CC0-1.0',
  kind: 'list',
  stale: false,
  versions: ['2026-11-15'],
}
const datasets: DatasetList = { datasets: [dataset] }

const exception: ExceptionRecord = {
  id: '019f1c2e-7a40-7b3c-8f00-5d2b9c41e6aa',
  recordId: '0017',
  entityId: 'demo-0004',
  reason: 'Passport seen; the listed person is 30 years older',
  expiresAt: '2027-11-15T00:00:00.000Z',
  createdAt: '2026-11-15T09:30:00.000Z',
  createdBy: '019f1c2e-6b11-7d40-9c55-0b7f3e8a2d14',
}
const exceptions: ExceptionPage = { items: [exception], count: 1, nextCursor: null }

const languages: LanguageList = {
  default: DEFAULT_LOCALE,
  items: [
    { tag: 'en', name: 'English', english: 'English', direction: 'ltr', available: true, review: 'machine_draft' },
    { tag: 'fr', name: 'Français', english: 'French', direction: 'ltr', available: true, review: 'machine_draft' },
  ],
}

const delivery: WebhookDelivery = {
  id: '019f1c2e-7a40-7b3c-8f00-5d2b9c41e6aa',
  event: 'age.session.completed',
  sessionId: '079b6adf-c487-8e40-b939-1119c179a04f',
  sequence: 1,
  origin: 'https://shop.example',
  state: 'delivered',
  attempts: 2,
  createdAt: '2026-11-15T10:02:17.201Z',
  deliveredAt: '2026-11-15T10:02:22.530Z',
  deletedAt: '2026-11-16T10:02:17.201Z',
  livemode: true,
}
const deliveries: WebhookDeliveryPage = { items: [delivery], count: 1, nextCursor: null }

const degraded: Health = {
  status: 'degraded',
  service: 'ostiary',
  version: VERSION,
  uptimeSeconds: 86_400,
  checks: { store: 'failed' },
}
const alive: ProcessState = { status: 'ok' }
const starting: ProcessState = { status: 'starting' }

export const RECORD_EXAMPLES = {
  listStrings: { replies: { 200: { 'The only page': strings } } },
  listDatasets: { replies: { 200: { 'The list for trials': datasets } } },
  createException: { replies: { 201: { Created: exception } } },
  listExceptions: { replies: { 200: { 'The only page': exceptions } } },
  listLocales: { replies: { 200: { 'Two of the languages': languages } } },
  listWebhookDeliveries: { replies: { 200: { 'The only page': deliveries } } },
  sandboxAdvanceClock: { request: { 'A quarter of an hour': { seconds: 900 } } },
  getHealth: { replies: { 503: { 'The database is out of reach': degraded } } },
  getLivez: { replies: { 200: { Alive: alive } } },
  getReadyz: { replies: { 200: { Ready: alive }, 503: { 'Not yet': starting } } },
  getOpenApi: {
    replies: {
      200: { 'Its first lines': { openapi: '3.1.0', info: { title: 'Ostiary', version: VERSION }, paths: {} } },
    },
  },
} as const satisfies Record<string, OperationExamples>
