import { createServer, type Server } from 'node:http'
import { isAdminHost } from '@ostiary/service-kit/admin-host'
import type { HealthMonitor } from './health.ts'
import type { Metrics } from './metrics.ts'
import type { AdminPages } from './reference.ts'

export interface AdminOptions {
  metrics: Metrics
  monitor: HealthMonitor
  /** What this process shows besides. */
  pages?: AdminPages
  /** Host names that it answers to, beside addresses and `localhost`. */
  hostNames?: readonly string[]
}

/** Metrics and process state on a port of their own, which is never published. Serves API and worker alike. */
export function createAdminServer({ metrics, monitor, pages = new Map(), hostNames = [] }: AdminOptions): Server {
  const paths = ['/metrics', '/livez', '/readyz', ...pages.keys()].join(', ')
  return createServer(async (request, response) => {
    const send = (status: number, headers: Record<string, string>, body: string) => {
      response.writeHead(status, { 'cache-control': 'no-store', ...headers }).end(body)
    }
    const answer = (status: number, type: string, body: string) => send(status, { 'content-type': type }, body)
    const json = (status: number, body: object) =>
      answer(status, 'application/json; charset=utf-8', JSON.stringify(body))
    if (!isAdminHost(request.headers.host, hostNames))
      return json(421, { message: 'Ask by an address or as localhost, or name this host in ADMIN_HOST_NAMES' })
    if (request.method !== 'GET' && request.method !== 'HEAD') return json(405, { message: 'Only GET' })
    switch (request.url) {
      case '/metrics':
        return answer(200, metrics.registry.contentType, await metrics.text())
      case '/livez':
        return json(200, { status: 'ok' })
      case '/readyz': {
        const status = await monitor.readiness()
        return json(status === 'ok' ? 200 : 503, { status })
      }
      default: {
        const page = await pages.get(request.url ?? '')?.()
        return page ? send(200, page.headers, page.body) : json(404, { message: `Here are ${paths}` })
      }
    }
  })
}

export function listen(server: Server, port: number, host: string): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', reject)
    server.listen(port, host, () => {
      server.off('error', reject)
      resolve()
    })
  })
}

export function closeServer(server: Server): Promise<void> {
  return new Promise((resolve) => {
    server.close(() => resolve())
    server.closeIdleConnections()
  })
}
