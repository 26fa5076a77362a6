import { getOpenApi, OPERATIONS, toOpenApi } from '@ostiary/contract'
import scalar from '@scalar/fastify-api-reference'
import type { FastifyInstance } from 'fastify'
import { route } from './route.ts'

// The page uses inline styles and one inline script that starts it. It calls this host only.
const PAGE_POLICY =
  "default-src 'none'; script-src 'self' 'unsafe-inline'; style-src 'self' 'unsafe-inline'; img-src 'self' data: blob:; " +
  "font-src 'self' data:; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

/** The OpenAPI document and a page to browse it, all served by this process: the page calls no other host. */
export async function referenceRoutes(app: FastifyInstance, { version }: { version: string }): Promise<void> {
  const document = toOpenApi(OPERATIONS, { title: 'Ostiary', version })
  route(app, getOpenApi, { handler: () => document })
  await app.register(scalar, {
    routePrefix: '/reference',
    hooks: {
      onRequest(request, reply, done) {
        reply.header('content-security-policy', PAGE_POLICY)
        // 4 MB that change only with the version.
        if (request.url.endsWith('.js')) reply.header('cache-control', 'public, max-age=86400')
        done()
      },
    },
    configuration: {
      url: '/openapi.json',
      pageTitle: 'Ostiary API reference',
      favicon: 'data:,',
      authentication: { preferredSecurityScheme: 'apiKey' },
      withDefaultFonts: false,
      telemetry: false,
      hideClientButton: true,
      agent: { disabled: true },
      mcp: { disabled: true },
      showDeveloperTools: 'never',
    },
  })
}
