import type { FastifyInstance } from 'fastify'
import { ageRoutes } from './age/index.ts'
import { nodeRoutes, renderNodeError } from './biometrics/index.ts'
import { findCaller, oauthRoutes, renderOAuthError } from './keys/index.ts'
import { launchPageRoutes, launchRoutes, localeRoutes } from './launch/index.ts'
import { createHttp } from './platform/http.ts'
import { processRoutes } from './platform/process-routes.ts'
import { referenceRoutes } from './platform/reference.ts'
import { exceptionRoutes, sanctionsRoutes } from './sanctions/index.ts'
import { sandboxRoutes } from './sandbox/index.ts'
import { serviceRoutes, stringRoutes } from './strings/index.ts'
import { renderVerificationError, verificationRoutes } from './verification/index.ts'
import { webhookRoutes } from './webhooks/index.ts'
import type { Wire } from './wire.ts'

/** The API's table of contents. */
export function buildApp(wire: Wire): FastifyInstance {
  const { config, version, ids, log, metrics, monitor, guard, strings, exceptions, sanctions, node } = wire
  const { age, verification, clientGate, launch, pageUse, sandbox, webhooks, tokens, limiter, clock } = wire
  const app = createHttp({
    version,
    trustProxy: config.http.trustProxy,
    ids,
    log,
    metrics,
    callerOf: findCaller,
    errorShapes: {
      '/node': renderNodeError,
      '/oauth': renderOAuthError,
      '/v2/verification-session': renderVerificationError,
    },
  })
  app.register(processRoutes, { monitor })
  app.register(referenceRoutes, { version })
  // Paths without a version are version 1, and are served by that name too.
  for (const prefix of ['', '/v1']) {
    app.register(serviceRoutes, { prefix, service: config.serviceName, version, monitor, guard })
    app.register(stringRoutes, { prefix, strings, guard, metrics })
    app.register(ageRoutes, { prefix, age, tokens, guard, limiter, clock, metrics })
    app.register(webhookRoutes, { prefix, webhooks, guard })
  }
  app.register(oauthRoutes, { clients: wire.clients, tokens: wire.accessTokens, guard })
  app.register(sanctionsRoutes, { sanctions, guard })
  app.register(exceptionRoutes, { exceptions, guard, metrics })
  app.register(launchRoutes, { launch, limiter, clock, origin: new URL(config.launch.url).origin })
  app.register(launchPageRoutes, { folder: config.launch.folder, use: pageUse })
  app.register(localeRoutes)
  app.register(verificationRoutes, { verification, guard, credentials: clientGate, metrics })
  app.register(sandboxRoutes, { sandbox, guard })
  app.register(nodeRoutes, { ...node, guard })
  return app
}
