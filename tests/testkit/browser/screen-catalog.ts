import { execFileSync } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { createServer } from 'node:http'
import { tmpdir } from 'node:os'
import { extname, join, normalize } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Page } from 'playwright-core'

const PAGE = fileURLToPath(new URL('../../../apps/launch/', import.meta.url))
const VITE = fileURLToPath(import.meta.resolve('vite/package.json')).replace('package.json', 'bin/vite.js')
const TYPES: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript',
  '.css': 'text/css',
  '.json': 'application/json',
  '.svg': 'image/svg+xml',
}

/** A screen in one of its variants, with its theme, language and colours. Colours have six digits. */
export interface ScreenOptions {
  screen: string
  theme?: 'light' | 'dark'
  lang?: string
  primary?: string
  background?: string
}

export interface ScreenCatalog {
  url(options: ScreenOptions): string
  /** Shows a screen on a page. The page is loaded only once. */
  show(page: Page, options: ScreenOptions): Promise<void>
  stop(): void
}

/** Builds and serves the screens of the launch page without a service, apart from the page that users get. */
export async function startScreenCatalog({ policy }: { policy: string | undefined }): Promise<ScreenCatalog> {
  const folder = mkdtempSync(join(tmpdir(), 'ostiary-screen-catalog-'))
  execFileSync(
    process.execPath,
    [VITE, 'build', '--mode', 'screen-catalog', '--outDir', folder, '--logLevel', 'error'],
    {
      cwd: PAGE,
      stdio: 'inherit',
    },
  )
  const server = createServer((request, response) => {
    const { pathname } = new URL(request.url ?? '', 'http://catalog')
    const file = join(folder, normalize(pathname))
    if (!existsSync(file) || extname(file) === '') return void response.writeHead(404).end()
    response.writeHead(200, {
      'content-type': TYPES[extname(file)] ?? 'application/octet-stream',
      ...(policy && { 'content-security-policy': policy }),
    })
    response.end(readFileSync(file))
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  const port = typeof address === 'object' && address ? address.port : 0
  const home = `http://localhost:${port}/screen-catalog.html`
  const url = (options: ScreenOptions) => `${home}?${new URLSearchParams({ ...options })}`
  return {
    url,
    async show(page, options) {
      if (page.url().startsWith(home)) await page.evaluate(`showScreen('${new URLSearchParams({ ...options })}')`)
      else await page.goto(url(options))
      await page.locator('main[data-screen]').waitFor()
    },
    stop() {
      server.closeAllConnections()
      server.close()
      rmSync(folder, { recursive: true, force: true })
    },
  }
}
