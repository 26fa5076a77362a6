/** A route of area D that only checks the key and the client credentials. Only tests import this. */
import { operation } from '@ostiary/contract'
import type { FastifyInstance, InjectOptions, LightMyRequestResponse } from 'fastify'
import { createHttp } from '../../platform/http.ts'
import { route } from '../../platform/route.ts'
import type { Harness } from '../../testing/harness.ts'
import { callerOf, findCaller } from '../index.ts'

const callIt = operation({
  operationId: 'callIt',
  area: 'D',
  method: 'GET',
  path: '/called',
  summary: 'A call of area D',
  description: '',
  auth: 'required',
  success: { 204: { description: 'Let in', schema: null } },
  errors: [],
})

export interface CalledApp {
  app: FastifyInstance
  call(key: string, headers?: Record<string, string | string[]>, from?: string): Promise<LightMyRequestResponse>
}

export function createCalledApp({ wire }: Harness): CalledApp {
  const { guard, clientGate } = wire.keys
  const app = createHttp({ ...wire.platform, trustProxy: [], callerOf: findCaller })
  route(app, callIt, {
    guard: guard.before(callIt, 'verify-read'),
    async handler(request, reply) {
      await clientGate.check(request, callerOf(request))
      return reply.code(204).send()
    },
  })
  return {
    app,
    call(key, headers = {}, from = freshAddress()) {
      const options: InjectOptions = { url: '/called', headers: { 'x-api-key': key, ...headers }, remoteAddress: from }
      return app.inject(options)
    },
  }
}

/** Wrong credentials are counted per address, so each test uses its own. */
export function freshAddress(): string {
  addresses++
  return `10.0.${addresses >>> 8}.${addresses & 255}`
}
let addresses = 0

export function basic(clientId: string, secret = ''): { authorization: string } {
  return { authorization: `Basic ${Buffer.from(`${clientId}:${secret}`).toString('base64')}` }
}
