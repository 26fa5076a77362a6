import { createServer, type Server } from 'node:http'
import { isAdminHost } from '@ostiary/service-kit/admin-host'
import type { Metrics } from './metrics.ts'
import { type Db, isWritable } from './platform/db.ts'

export type Phase = 'starting' | 'running' | 'stopping'

export interface AdminOptions {
  db: Db
  metrics: Metrics
  phase: () => Phase
  /** Host names that it answers to, beside addresses and `localhost`. */
  hostNames: readonly string[]
}

/** Metrics and process state on a port of their own, which is never published. */
export function createAdminServer({ db, metrics, phase, hostNames }: AdminOptions): Server {
  const readiness = async () => {
    if (phase() !== 'running') return phase()
    return (await isWritable(db)) ? 'ok' : 'degraded'
  }
  return createServer(async (request, response) => {
    const send = (status: number, type: string, body: string) =>
      response.writeHead(status, { 'cache-control': 'no-store', 'content-type': type }).end(body)
    const json = (status: number, body: object) => send(status, 'application/json; charset=utf-8', JSON.stringify(body))
    if (!isAdminHost(request.headers.host, hostNames))
      return json(421, { message: 'Ask by an address or as localhost, or name this host in ADMIN_HOST_NAMES' })
    switch (request.method === 'GET' ? request.url : undefined) {
      case '/metrics':
        return send(200, metrics.registry.contentType, await metrics.registry.metrics())
      case '/livez':
        return json(200, { status: 'ok' })
      case '/readyz': {
        const status = await readiness()
        return json(status === 'ok' ? 200 : 503, { status })
      }
      default:
        return json(404, { message: 'GET /metrics, /livez, /readyz' })
    }
  })
}

export function listen(server: Server, { host, port }: { host: string; port: number }): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', reject)
    server.listen(port, host, resolve)
  })
}

export function closeServer(server: Server): Promise<void> {
  return new Promise((resolve) => {
    server.close(() => resolve())
    server.closeAllConnections()
  })
}
