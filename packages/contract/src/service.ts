import Type from 'typebox'
import { AREAS } from './areas.ts'
import { type Operation, operation } from './operation.ts'

export const Descriptor = Type.Object(
  {
    service: Type.String({ description: 'Name of the service' }),
    version: Type.String({ description: 'Version of the service' }),
    endpoints: Type.Object(
      {
        health: Type.String({ description: 'Path of the health check' }),
        createString: Type.String({ description: 'Method and path' }),
        listStrings: Type.String({ description: 'Method and path' }),
        getString: Type.String({ description: 'Method and path' }),
        deleteString: Type.String({ description: 'Method and path' }),
      },
      { description: 'Each value is `<METHOD> <path>`' },
    ),
    areas: Type.Array(
      Type.Object({
        name: Type.String({ description: 'The area’s name in this product’s documents' }),
        does: Type.String({ description: 'What it does, in a sentence' }),
        document: Type.String({ description: 'Its document, as a path in the documents of this release' }),
      }),
      { description: 'Extension: the areas of this service, A to E of the interface in this order' },
    ),
  },
  {
    title: 'Descriptor',
    examples: [
      {
        service: 'ostiary',
        version: '0.1.0',
        endpoints: {
          health: 'GET /health',
          createString: 'POST /strings',
          listStrings: 'GET /strings',
          getString: 'GET /strings/:id',
          deleteString: 'DELETE /strings/:id',
        },
        areas: AREAS,
      },
    ],
  },
)
export type Descriptor = Type.Static<typeof Descriptor>

export const Health = Type.Object(
  {
    status: Type.Union([Type.Literal('ok'), Type.Literal('degraded')], {
      description: '`degraded`: a check is not `ok`',
    }),
    service: Type.String({ description: 'Name of the service' }),
    version: Type.String({ description: 'Version of the service' }),
    uptimeSeconds: Type.Integer({ description: 'For how long this process has run' }),
    checks: Type.Record(
      Type.String(),
      Type.Union([Type.Literal('ok'), Type.Literal('failed'), Type.Literal('stale')]),
      {
        description:
          '`store` is the database. `worker` is there only while no worker serves it. `lists` is there only while a sanctions list is `stale`: it still serves, and `status` stays `ok`',
      },
    ),
    details: Type.Optional(
      Type.Record(Type.String(), Type.String(), { description: 'What is wrong with a check, in a sentence' }),
    ),
  },
  {
    title: 'Health',
    examples: [{ status: 'ok', service: 'ostiary', version: '0.1.0', uptimeSeconds: 86400, checks: { store: 'ok' } }],
  },
)
export type Health = Type.Static<typeof Health>

export const ProcessState = Type.Object(
  {
    status: Type.Union([
      Type.Literal('ok'),
      Type.Literal('starting'),
      Type.Literal('stopping'),
      Type.Literal('degraded'),
    ]),
  },
  { title: 'ProcessState' },
)
export type ProcessState = Type.Static<typeof ProcessState>

export const describeService = operation({
  operationId: 'describeService',
  area: 'A',
  method: 'GET',
  path: '/',
  summary: 'Describe the service',
  description:
    'Name, version, the operations of the string store, and what areas there are. Also at `/.well-known/service.json`.',
  auth: 'none',
  success: { 200: { description: 'The descriptor', schema: Descriptor } },
  errors: ['INVALID_API_KEY', 'KEY_INACTIVE', 'RATE_LIMITED'],
})

export const getHealth = operation({
  operationId: 'getHealth',
  area: 'A',
  method: 'GET',
  path: '/health',
  summary: 'Check health',
  description: 'For people and monitors: says whether the service and its store work. Measured at most once a second.',
  auth: 'none',
  success: {
    200: { description: 'Everything works', schema: Health },
    503: { description: '`status` is `degraded`; `checks` says what failed', schema: Health },
  },
  errors: ['INVALID_API_KEY', 'KEY_INACTIVE', 'RATE_LIMITED'],
})

export const getOpenApi = operation({
  operationId: 'getOpenApi',
  area: '-',
  method: 'GET',
  path: '/openapi.json',
  summary: 'This document',
  description:
    'The OpenAPI 3.1 document of this installation. A page to browse it is at `/reference` of the admin port.',
  auth: 'none',
  success: { 200: { description: 'The document', schema: Type.Object({}, { additionalProperties: true }) } },
  errors: [],
})

export const getLivez = operation({
  operationId: 'getLivez',
  area: '-',
  method: 'GET',
  path: '/livez',
  summary: 'Is the process alive',
  description: 'For an orchestrator: restart the process when this does not answer. Does not look at the database.',
  auth: 'none',
  success: { 200: { description: 'Alive', schema: ProcessState } },
  errors: [],
})

export const getReadyz = operation({
  operationId: 'getReadyz',
  area: '-',
  method: 'GET',
  path: '/readyz',
  summary: 'Can the process take traffic',
  description:
    'For a load balancer: 503 while starting, while no cell can store anything, and while stopping. A database that is only slow has three looks or five seconds.',
  auth: 'none',
  success: {
    200: { description: 'Send traffic', schema: ProcessState },
    503: { description: 'Send none', schema: ProcessState },
  },
  errors: [],
})

export const SERVICE_OPERATIONS: readonly Operation[] = [describeService, getHealth]
/** What orchestrators and tools read. They come last in the reference. */
export const PROBE_OPERATIONS: readonly Operation[] = [getLivez, getReadyz, getOpenApi]
