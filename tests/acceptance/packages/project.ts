/** Empty projects outside of the checkout, with our packages installed off-line, as an integrator has them. */
import { execFileSync, spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import type { TestContext } from 'node:test'
import { fileURLToPath } from 'node:url'
import { ROOT } from '@ostiary/testkit/root'

export const SDK = join(ROOT, '.packages/ostiary-sdk.tgz')
export const CLI = join(ROOT, '.packages/ostiary-cli.tgz')
export const COMPILERS = {
  '5.9': fileURLToPath(new URL('bin/tsc', import.meta.resolve('typescript-5/package.json'))),
  '7': join(ROOT, 'node_modules/typescript/bin/tsc'),
} as const

const EMBED = '@ostiary/sdk/embed'

/** Makes the packages of this checkout. */
export function makePackages(): void {
  execFileSync(process.execPath, ['tools/packages/main.ts'], { cwd: ROOT, stdio: ['ignore', 'ignore', 'inherit'] })
}

export interface Project {
  folder: string
  write(path: string, text: string): void
  /** What the program printed; throws with all of it when the program fails. */
  run(program: string, ...args: string[]): string
}

/** A project with these archives, installed without a network, without a cache and without scripts. */
export function newProject(t: TestContext, type: 'module' | 'commonjs', ...archives: string[]): Project {
  const folder = mkdtempSync(join(tmpdir(), 'ostiary-project-'))
  t.after(() => rmSync(folder, { recursive: true, force: true }))
  const write = (path: string, text: string) => {
    mkdirSync(dirname(join(folder, path)), { recursive: true })
    writeFileSync(join(folder, path), text)
  }
  const run = (program: string, ...args: string[]) => {
    const env = {
      PATH: process.env.PATH ?? '',
      HOME: folder,
      npm_config_cache: join(folder, 'cache'),
      DENO_DIR: join(folder, 'deno'),
    }
    const { status, stdout, stderr, error } = spawnSync(program, args, { cwd: folder, env, encoding: 'utf8' })
    if (status !== 0)
      throw new Error(`${program} ${args.join(' ')} ended with ${status}\n${stdout}${stderr}`, { cause: error })
    return stdout
  }
  write('package.json', JSON.stringify({ name: 'shop', private: true, type }))
  run('npm', 'install', '--offline', '--ignore-scripts', '--no-audit', '--no-fund', ...archives)
  return { folder, write, run }
}

/** The types of Node, as `npm install --save-dev @types/node` would bring them. */
export function addNodeTypes({ folder }: Project): void {
  mkdirSync(join(folder, 'node_modules/@types'), { recursive: true })
  symlinkSync(join(ROOT, 'node_modules/@types/node'), join(folder, 'node_modules/@types/node'))
}

/** The names by which the installed SDK can be loaded, such as `@ostiary/sdk/embed`. */
export function entriesOf({ folder }: Project): string[] {
  const { exports } = JSON.parse(readFileSync(join(folder, 'node_modules/@ostiary/sdk/package.json'), 'utf8'))
  return Object.keys(exports)
    .filter((subpath) => subpath !== './package.json')
    .map((subpath) => `@ostiary/sdk${subpath.slice(1)}`)
}

/** A program that loads every entry and uses the package; prints `works`. */
export function program(entries: readonly string[], how: 'import' | 'require'): string {
  const load = (name: string) => (how === 'import' ? `await import("${name}")` : `require('${name}')`)
  const work = `
  const entries = { ${entries.map((name) => `'${name}': ${load(name)}`).join(', ')} }
  for (const [name, entry] of Object.entries(entries)) if (Object.keys(entry).length === 0) throw new Error(name + ' is empty')
  ${USE}`
  return how === 'import'
    ? work
    : `(async () => {${work}})().catch((error) => { console.error(error); process.exit(1) })`
}

const USE = `
  const { createClient, OstiaryError, verifyWebhook } = entries['@ostiary/sdk']
  const check = (isRight, what) => { if (!isRight) throw new Error(what) }
  if (typeof entries['${EMBED}'].openLaunch !== 'function') throw new Error('openLaunch')

  const fetch = async () => new Response('{"status":"ok"}', { headers: { 'content-type': 'application/json' } })
  check((await createClient({ baseUrl: 'http://127.0.0.1:1', fetch }).health()).status === 'ok', 'a call')
  const refused = async (work) => { try { await work(); return undefined } catch (error) { return error } }
  check(await refused(() => createClient({ baseUrl: 'localhost:18431', maxRetries: 0 }).health()), 'a base URL that cannot work')
  check(await refused(() => createClient({ baseUrl: 'http://127.0.0.1:1', apiKey: 'ost_test_cut' })), 'a key that was cut off')
  const notFound = async () => new Response('{"statusCode":404,"message":"No","code":"NOT_FOUND"}', { status: 404, headers: { 'content-type': 'application/json' } })
  const failure = await refused(() => createClient({ baseUrl: 'http://127.0.0.1:1', fetch: notFound }).strings.get('x'))
  check(failure instanceof OstiaryError && failure.code === 'NOT_FOUND', 'an error of the service')

  const apiKey = 'ost_test_of_a_shop'
  const timestamp = String(Math.floor(Date.now() / 1000))
  const body = '{"sessionId":"x"}'
  const text = new TextEncoder()
  const key = await crypto.subtle.importKey('raw', text.encode(apiKey), { name: 'HMAC', hash: 'SHA-256' }, false, ['sign'])
  const mac = new Uint8Array(await crypto.subtle.sign('HMAC', key, text.encode(timestamp + '.' + body)))
  const signature = 'sha256=' + [...mac].map((byte) => byte.toString(16).padStart(2, '0')).join('')
  check(await verifyWebhook({ apiKey, timestamp, signature, body }) === true, 'a genuine webhook')
  check(await verifyWebhook({ apiKey, timestamp, signature, body: body + ' ' }) === false, 'a forged webhook')
  console.log('works')
`

/** Compiled in the strictest way: what an integrator writes, and two mistakes that must not compile. */
export const TYPED = `
import { type AgeResult, createClient, type CreateSessionBody, isOldEnough, OstiaryError } from '@ostiary/sdk'
import { openLaunch } from "${EMBED}"

const ostiary = createClient({ baseUrl: 'https://ostiary.example' })
const wanted: CreateSessionBody = { redirectUrl: 'https://shop.example/checked', ageThreshold: 30 }

export async function mayBuy(): Promise<boolean> {
  const { token } = await ostiary.age.create(wanted)
  const result: AgeResult = await ostiary.age.waitForResult(token)
  return isOldEnough(result)
}
export function reasonOf(error: unknown): string {
  return error instanceof OstiaryError ? error.code : 'none'
}
export { openLaunch }
// @ts-expect-error the name is wrong
export const mistyped: CreateSessionBody = { redirectUrl: 'https://shop.example/checked', ageTreshold: 30 }
// @ts-expect-error no session has this state
export const impossible: AgeResult['flowStatus'] = 'DONE'
console.log(typeof mayBuy)
`

export interface CompileOptions {
  compiler: keyof typeof COMPILERS
  resolution: 'nodenext' | 'bundler'
  /** Where the types of fetch, URL and AbortSignal come from. */
  globals: 'node' | 'dom'
}

/** Compiles shop.ts to shop.js; throws with what the compiler says. */
export function compile(project: Project, { compiler, resolution, globals }: CompileOptions): void {
  const compilerOptions = {
    strict: true,
    exactOptionalPropertyTypes: true,
    noPropertyAccessFromIndexSignature: true,
    noUncheckedIndexedAccess: true,
    skipLibCheck: false,
    target: 'es2022',
    module: resolution === 'bundler' ? 'esnext' : 'nodenext',
    moduleResolution: resolution,
    lib: globals === 'dom' ? ['es2022', 'dom'] : ['es2022'],
    types: globals === 'dom' ? [] : ['node'],
  }
  project.write('tsconfig.json', JSON.stringify({ compilerOptions, files: ['shop.ts'] }))
  project.write('shop.ts', TYPED)
  project.run(process.execPath, COMPILERS[compiler], '-p', '.')
}

/** What publint says about an archive: `All good!` at its end when it finds nothing. */
export function askPublint(archive: string): string {
  const command = [fileURLToPath(new URL('cli.js', import.meta.resolve('publint'))), archive, '--strict']
  return spawnSync(process.execPath, command, { encoding: 'utf8' }).stdout
}
