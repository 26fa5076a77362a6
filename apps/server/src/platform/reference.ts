import { getOpenApi, OPENAPI_PARTS, OPERATIONS, toOpenApi } from '@ostiary/contract'
import Fastify, { type FastifyInstance } from 'fastify'
import { route } from './route.ts'

/** The OpenAPI document, which generators and API clients read. */
export async function openApiRoutes(app: FastifyInstance, { version }: { version: string }): Promise<void> {
  // 600 KB, written once: anybody may ask for it.
  const document = Buffer.from(JSON.stringify(openApi(version)))
  route(app, getOpenApi, {
    handler: (_request, reply) => reply.header('content-type', 'application/json; charset=utf-8').send(document),
  })
}

const openApi = (version: string) => toOpenApi(OPERATIONS, { title: 'Ostiary', version }, OPENAPI_PARTS)

export interface AdminPage {
  headers: Record<string, string>
  body: string
}

/** The pages of the API reference, by path. */
export type AdminPages = ReadonlyMap<string, () => Promise<AdminPage>>

/**
 * A page to browse the OpenAPI document, for the admin port. It runs 4 MB of script that is not ours, so it does not stand on the
 * public origin: the launch page there has the camera, the passkeys and the local tokens of end users. It only shows: it sends no
 * request to the API, and nobody types a key into it.
 */
export function createReferencePages({ version, publicUrl }: { version: string; publicUrl: string }): AdminPages {
  const document = { ...openApi(version), servers: [{ url: publicUrl }] }
  let bundle: Promise<string> | undefined
  const loadBundle = () => {
    bundle ??= readBundle()
    return bundle
  }
  return new Map([
    ['/openapi.json', async () => page('application/json; charset=utf-8', JSON.stringify(document))],
    ['/reference', documentPage],
    ['/reference/start.js', async () => page(SCRIPT, START)],
    ['/reference/scalar.js', async () => page(SCRIPT, await loadBundle())],
  ])
}

const SCRIPT = 'text/javascript; charset=utf-8'

const OPTIONS = {
  url: '/openapi.json',
  withDefaultFonts: false,
  telemetry: false,
  hideTestRequestButton: true,
  hideClientButton: true,
  persistAuth: false,
  agent: { disabled: true },
  mcp: { disabled: true },
  showDeveloperTools: 'never',
  // As the contract has them: what matters comes first, what is deprecated last.
  orderSchemaPropertiesBy: 'preserve',
  authentication: { preferredSecurityScheme: 'apiKey' },
}

/** A file and not a script in the page, so that the policy can forbid all of those. */
const START = `Scalar.createApiReference('#app', ${JSON.stringify(OPTIONS)})\n`

async function documentPage(): Promise<AdminPage> {
  const html = `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8" />
    <meta name="viewport" content="width=device-width, initial-scale=1" />
    <title>Ostiary API reference</title>
    <link rel="icon" href="data:," />
  </head>
  <body>
    <div id="app"></div>
    <script src="/reference/scalar.js"></script>
    <script src="/reference/start.js"></script>
  </body>
</html>
`
  return page('text/html; charset=utf-8', html)
}

/** The script is in no file of its own: the plugin has it as a text and serves it. Loaded when somebody opens the page. */
async function readBundle(): Promise<string> {
  const { default: scalar } = await import('@scalar/fastify-api-reference')
  const app = Fastify()
  await app.register(scalar, { routePrefix: '/reference', configuration: { url: OPTIONS.url } })
  const { body } = await app.inject('/reference/js/scalar.js')
  await app.close()
  return body
}

function page(type: string, body: string): AdminPage {
  return { headers: { ...HEADERS, 'content-type': type }, body }
}

/**
 * Scalar writes style sheets without a nonce into the page, and its framework turns texts into elements through the one Trusted Types
 * policy named here. No script can be inline, or made from a text.
 */
const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self' 'unsafe-inline'",
  "img-src 'self' data: blob:",
  "font-src 'self' data:",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "object-src 'none'",
  "frame-ancestors 'none'",
  'trusted-types vue',
  "require-trusted-types-for 'script'",
].join('; ')

const NOTHING = [
  ...['camera', 'microphone', 'display-capture', 'geolocation', 'payment', 'usb', 'serial', 'hid'],
  ...['publickey-credentials-create', 'publickey-credentials-get', 'identity-credentials-get', 'otp-credentials'],
  ...['clipboard-read', 'screen-wake-lock', 'fullscreen'],
]

const HEADERS = {
  'content-security-policy': POLICY,
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
  'cross-origin-embedder-policy': 'require-corp',
  'permissions-policy': NOTHING.map((feature) => `${feature}=()`).join(', '),
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
}
