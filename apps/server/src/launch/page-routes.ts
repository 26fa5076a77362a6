import { createHash } from 'node:crypto'
import { constants } from 'node:fs'
import { open } from 'node:fs/promises'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { AppError } from '../platform/errors.ts'
import { isKnown } from '../platform/etag.ts'
import { named } from '../platform/route.ts'
import { isSessionId } from '../sessions/index.ts'
import { INDEX, listPageFiles, type PageFile } from './page-files.ts'
import { documentHeaders, fileHeaders, type PageUse } from './page-headers.ts'
import type { PageUseFinder } from './page-use.ts'

interface Deps {
  /** Where the built page is. */
  folder: string
  use: PageUseFinder
}

const FOREVER = 'public, max-age=31536000, immutable'
/** Cached, and revalidated every time. */
const ASK = 'no-cache'

/** The launch page and its files, each with a route of its own: a path that is not listed is 404. */
export async function launchPageRoutes(app: FastifyInstance, { folder, use }: Deps): Promise<void> {
  const files = await listPageFiles(folder)
  // Relative, because a proxy may serve all of this below a path of its own.
  app.get('/launch', { onRequest: named('launchPage') }, (request, reply) =>
    reply.redirect(`launch/${request.url.slice('/launch'.length)}`, 308),
  )
  if (!files) {
    app.log.warn('the launch page is not built: npm run build -w apps/launch')
    serve(app, '', 'launchPage', (_request, reply) => sendNotice(reply))
    return
  }
  for (const file of files) {
    const { path, isDocument } = file
    if (!isDocument) {
      serve(app, path, 'launchFile', (request, reply) => {
        reply.headers(fileHeaders())
        return sendFile(file, file.tag, request, reply)
      })
      continue
    }
    serve(app, path === INDEX ? '' : path, 'launchPage', async (request, reply) => {
      const headers = documentHeaders(await useOf(request, use))
      reply.headers(headers)
      // The tag includes the policy: a browser must not use a cached page with an old policy.
      return sendFile(file, `${file.tag}.${fingerprint(headers)}`, request, reply)
    })
  }
}

type Handler = (request: FastifyRequest, reply: FastifyReply) => unknown

/** HEAD uses the same handler: the framework's own would read the file and report a length of 0. */
function serve(app: FastifyInstance, path: string, operation: string, handler: Handler): void {
  const url = `/launch/${path}`
  app.route({ method: ['GET', 'HEAD'], exposeHeadRoute: false, url, onRequest: named(operation), handler })
}

/** What the address says about the use of the page. Not validated: it may contain anything. */
async function useOf({ query, ip }: FastifyRequest, use: PageUseFinder): Promise<PageUse> {
  const { sessionId, as } = query as { sessionId?: unknown; as?: unknown }
  const isSession = typeof sessionId === 'string' && isSessionId(sessionId)
  const embedOrigins = isSession ? await use.embedOriginsOf(sessionId, ip) : []
  return { embedOrigins, popup: as === 'popup' }
}

async function sendFile(file: PageFile, tag: string, request: FastifyRequest, reply: FastifyReply) {
  const gzipFile = acceptsGzip(request) ? file.gzipFile : null
  const etag = gzipFile ? `"${tag}.gz"` : `"${tag}"`
  reply.headers({ etag, 'cache-control': file.isImmutable ? FOREVER : ASK, vary: 'accept-encoding' })
  if (SERVICE_WORKER.test(file.path)) reply.header('service-worker-allowed', './')
  if (isKnown(request, etag)) return reply.code(304).send()
  // A file that became a link after the process started is not followed.
  const opened = await open(gzipFile ?? file.file, constants.O_RDONLY | constants.O_NOFOLLOW).catch(() => undefined)
  if (!opened) throw new AppError('not_found', 'NOT_FOUND', 'There is nothing at this path')
  const { size } = await opened.stat()
  reply.header('content-type', file.contentType).header('content-length', size)
  if (gzipFile) reply.header('content-encoding', 'gzip')
  if (request.method !== 'HEAD') return reply.send(opened.createReadStream())
  await opened.close()
  return reply.send('')
}

/** The service worker may control everything in its own folder, which is the page. */
const SERVICE_WORKER = /^service-worker\.js$/

/** Whether the caller accepts gzip: by its name, or by `*` for all that is not named. */
export function acceptsGzip({ headers }: Pick<FastifyRequest, 'headers'>): boolean {
  const codings = String(headers['accept-encoding'] ?? '').toLowerCase()
  const weights = new Map(
    codings.split(',').map((coding) => {
      const [name = '', weight = 'q=1'] = coding.split(';').map((part) => part.trim())
      return [name, Number(/^q=([\d.]+)$/.exec(weight)?.[1] ?? 0)]
    }),
  )
  return (weights.get('gzip') ?? weights.get('*') ?? 0) > 0
}

function fingerprint(headers: Record<string, string>): string {
  return createHash('sha256').update(JSON.stringify(headers)).digest('base64url').slice(0, 8)
}

const NOTICE = `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<title>The launch page is not built</title>
<h1>The launch page is not built</h1>
<p>The service works, but the page that users see is missing. In the checkout, run
<p><code>node models/main.ts &amp;&amp; npm run build -w apps/launch</code>
<p>and start the API again. If the page is elsewhere, name its folder in <code>LAUNCH_DIR</code> or its address in
<code>LAUNCH_URL</code>. <code>ostiary doctor</code> says what is set.
</html>
`

function sendNotice(reply: FastifyReply) {
  return reply.code(503).header('content-type', 'text/html; charset=utf-8').send(NOTICE)
}
