import type { FastifyInstance } from 'fastify'
import { findCaller } from './keys/index.ts'
import { createHttp } from './platform/http.ts'
import { packageRoutes } from './platform/package-routes.ts'
import { processRoutes } from './platform/process-routes.ts'
import { openApiRoutes } from './platform/reference.ts'
import type { Wire } from './wire.ts'

/** The API's table of contents. */
export function buildApp(wire: Wire): FastifyInstance {
  const { config, platform } = wire
  const app = createHttp({
    ...platform,
    trustProxy: config.http.trustProxy,
    hostGate: wire.keys.hostGate,
    callerOf: findCaller,
    errorShapes: [...wire.keys.errorShapes, ...wire.verification.errorShapes, ...wire.biometrics.errorShapes],
  })
  // No request is answered before the bound host names are known.
  app.addHook('onReady', wire.keys.hostMap.load)
  app.register(processRoutes, { monitor: platform.monitor })
  app.register(openApiRoutes, { version: platform.version })
  app.register(packageRoutes, { version: platform.version })
  // Paths without a version are version 1, and are served by that name too.
  for (const prefix of ['', '/v1']) {
    app.register(wire.strings.routes, { prefix })
    app.register(wire.age.routes, { prefix })
    app.register(wire.webhooks.routes, { prefix })
  }
  app.register(wire.webhooks.keyRoutes)
  app.register(wire.keys.routes)
  app.register(wire.sanctions.routes)
  app.register(wire.launch.routes)
  app.register(wire.verification.routes)
  app.register(wire.sandbox.routes)
  app.register(wire.biometrics.routes)
  return app
}
