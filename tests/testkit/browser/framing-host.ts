import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { stripTypeScriptTypes } from 'node:module'
import { fileURLToPath } from 'node:url'

const SDK = new URL('.', import.meta.resolve('@ostiary/sdk'))

/** A customer's page that opens the launch page with `@ostiary/sdk/embed`, as its query says, and records its events. */
const PAGE = `<!doctype html><html lang="en"><title>A shop</title><main><h1>A shop</h1><div id="place"></div></main>
<script type="module">
import { openLaunch } from '/sdk/embed/index.ts'
const query = new URLSearchParams(location.search)
globalThis.launchEvents = []
globalThis.begin = () => {
  globalThis.opened = openLaunch({
    launchUrl: query.get('launchUrl'),
    as: query.get('as'),
    container: document.getElementById('place'),
    onEvent: (event) => globalThis.launchEvents.push(event),
  })
}
</script>`

/** The page, and under `/sdk/` the modules that it imports. */
export function sendFramingPage(request: IncomingMessage, response: ServerResponse): void {
  const { pathname } = new URL(request.url ?? '', 'http://host')
  if (!pathname.startsWith('/sdk/')) {
    response.writeHead(200, { 'content-type': 'text/html' }).end(PAGE)
    return
  }
  const file = fileURLToPath(new URL(pathname.slice('/sdk/'.length), SDK))
  response.writeHead(200, { 'content-type': 'text/javascript' }).end(stripTypeScriptTypes(readFileSync(file, 'utf8')))
}

/** Serves the same page under every name of this machine, so that one origin is allowed and another is not. */
export async function startFramingHost(port: number): Promise<{ stop(): void }> {
  const server = createServer(sendFramingPage).listen(port, '127.0.0.1')
  await once(server, 'listening')
  return {
    stop: () => {
      server.closeAllConnections()
      server.close()
    },
  }
}
