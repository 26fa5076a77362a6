/** Reads compose.yaml, deploy/ and .dockerignore and checks what can be checked without Docker. */
import assert from 'node:assert/strict'
import { execFile, execFileSync } from 'node:child_process'
import { copyFileSync, existsSync, globSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import path from 'node:path'
import { test } from 'node:test'
import * as keyHolder from '@ostiary/key-holder/conformance'
import { documentHeaders, IMMUTABLE, isSecret, loadConfig, Settings } from '@ostiary/server/conformance'
import { API_FLAGS, freePorts, ROOT } from '@ostiary/testkit/run'
import { temporaryFolder } from '@ostiary/testkit/temporary-folder'
import { parse } from 'yaml'

interface Service {
  build?: { context: string; dockerfile: string; args: string[] }
  command?: string[]
  environment?: Record<string, unknown>
  secrets?: string[]
  ports?: string[]
  stop_grace_period?: string
  [key: string]: unknown
}

interface Compose {
  services: Record<string, Service>
  secrets: Record<string, { file: string }>
}

const read = (file: string) => readFileSync(`${ROOT}${file}`, 'utf8')

/** As Docker Compose reads it when no variable is set. A variable without a default would be silently empty there. */
const compose = parse(read('compose.yaml'), (_key, value) => (typeof value === 'string' ? fillIn(value) : value), {
  merge: true,
}) as Compose
const services = Object.entries(compose.services)
const ours = services.filter(([, service]) => service.build)
/** Of the API and the worker. */
const servers = ours.filter(([name]) => name !== 'key-holder')
const isOfKeyHolder = (name: string) => name.startsWith('key_holder_')

const dockerfile = read('deploy/Dockerfile')
  .replaceAll(/^\s*#.*\n/gm, '')
  .replaceAll(/\\\n\s*/g, '')
  .split('\n')
  .filter((line) => line.trim() !== '')
  .map((line) => {
    const [word = '', ...rest] = line.trim().split(/\s+/)
    return { word: word.toUpperCase(), rest, text: rest.join(' ') }
  })
const lastStage = dockerfile.slice(dockerfile.findLastIndex(({ word }) => word === 'FROM'))
const only = (word: string) => {
  const found = lastStage.filter((line) => line.word === word)
  assert.equal(found.length, 1, `one ${word} in the last stage`)
  return found[0]?.text ?? ''
}
/** What the Dockerfile copies out of the checkout. */
const copied = dockerfile
  .filter(({ word, text }) => word === 'COPY' && !text.includes('--from='))
  .flatMap(({ rest }) => rest.slice(0, -1))

/** Whether .dockerignore keeps a file out. The last line that matches decides, as in Docker. */
function isIgnored(file: string): boolean {
  let ignored = false
  for (const line of read('.dockerignore').split('\n')) {
    if (line === '' || line.startsWith('#')) continue
    const pattern = line.replace(/^!/, '')
    if (path.matchesGlob(file, pattern) || path.matchesGlob(file, `${pattern}/**`)) ignored = !line.startsWith('!')
  }
  return ignored
}

/** The files of the checkout that end up in the image. */
function shipped(): string[] {
  return copied
    .flatMap((source) =>
      statSync(`${ROOT}${source}`).isDirectory()
        ? globSync(`${source}/**/*`, { cwd: ROOT, exclude: (name) => path.basename(name) === 'node_modules' })
        : [source],
    )
    .filter((file) => statSync(`${ROOT}${file}`).isFile() && !isIgnored(file))
}

test('[U7] our containers write to the datasets’ volume only, hold no capabilities and gain none', () => {
  assert.deepEqual(ours.map(([name]) => name).sort(), ['api', 'key-holder', 'worker'])
  for (const [name, service] of ours) {
    assert.equal(service.read_only, true, name)
    assert.deepEqual(service.cap_drop, ['ALL'], name)
    assert.deepEqual(service.tmpfs, ['/tmp'], name)
    for (const key of ['cap_add', 'privileged', 'user', 'network_mode', 'pid', 'devices'])
      assert.equal(service[key], undefined, `${name} has ${key}`)
  }
  assert.equal(compose.services['key-holder']?.volumes, undefined)
  for (const [name, service] of servers) {
    const { sanctions } = loadConfig(textsOf(service.environment), secretsInStock)
    assert.deepEqual(service.volumes, [`datasets:${sanctions.dir}`, './deploy/lists:/lists:ro'], name)
    const [uid] = only('USER').split(':')
    const owned = new RegExp(`mkdir -p ${sanctions.dir} && chown ${uid}:${uid} ${sanctions.dir}$`)
    assert.ok(
      lastStage.some(({ word, text }) => word === 'RUN' && owned.test(text)),
      'the image’s user cannot write to the volume',
    )
  }
  for (const [name, service] of services) {
    assert.ok(service.mem_limit && service.pids_limit, `[U7] ${name} has no limit of memory or processes`)
    assert.equal(service.read_only, true, name)
    assert.deepEqual(service.cap_drop, ['ALL'], name)
  }
  for (const [name, service] of services)
    assert.deepEqual(service.security_opt, ['no-new-privileges:true'], `${name} can gain privileges`)
})

test('no container gets a secret in its environment, only files that deploy/first-run makes', () => {
  for (const [name, { environment = {}, secrets = [] }] of services) {
    for (const [key, value] of Object.entries(environment)) {
      const isFile = key.endsWith('_FILE')
      assert.ok(isFile || !/PASS|KEY|SECRET|TOKEN|DATABASE_URL/.test(key), `${name}: ${key} is a literal secret`)
      assert.ok(!/:\/\/[^/]*:[^/]*@/.test(String(value)), `${name}: ${key} holds a password`)
      if (isFile)
        assert.ok(secrets.map((secret) => `/run/secrets/${secret}`).includes(String(value)), `${name}: ${key}`)
    }
  }
  for (const [name, { file, ...others }] of Object.entries(compose.secrets)) {
    assert.equal(file, `deploy/secrets/${name}`)
    assert.deepEqual(others, {}, 'a secret comes from its file alone')
    assert.ok(isIgnored(file), `${file} would get into the image’s build`)
  }
  assert.match(read('.gitignore'), /^\/deploy\/secrets\/$/m)
})

test('every setting in compose.yaml and in the image is one the service knows, with a value it accepts', () => {
  const known = Object.entries(Settings.properties).map(([name, schema]) => (isSecret(schema) ? `${name}_FILE` : name))
  const [variable = '', value = ''] = only('ENV').split('=')
  for (const [name, { environment = {} }] of servers) {
    for (const key of [variable, ...Object.keys(environment)])
      assert.ok(known.includes(key), `${name}: there is no setting ${key}`)
    const config = loadConfig({ [variable]: value, ...textsOf(environment) }, secretsInStock)
    assert.deepEqual([...config.authRequiredAreas], ['A', 'B'], name)
    assert.equal(config.http.host, '0.0.0.0', name)
  }
})

test('the key holder is optional, has settings that it knows, and shares no secret, volume or database network with the server', () => {
  const { 'key-holder': service, 'key-holder-db': database, ...others } = compose.services
  assert.ok(service && database)
  assert.deepEqual([service.profiles, database.profiles], [['token'], ['token']])
  const known = Object.entries(keyHolder.Settings.properties).map(([name, schema]) =>
    keyHolder.isSecret(schema) ? `${name}_FILE` : name,
  )
  for (const key of Object.keys(service.environment ?? {})) assert.ok(known.includes(key), `there is no setting ${key}`)
  const [variable = '', value = ''] = only('ENV').split('=')
  const config = keyHolderConfig({ [variable]: value, ...textsOf(service.environment) })
  assert.deepEqual(service.ports, [`127.0.0.1:8090:${config.http.port}`])
  assert.deepEqual([config.http.host, config.admin.host], ['0.0.0.0', '127.0.0.1'])
  for (const each of [service, database]) assert.ok((each.secrets ?? []).every(isOfKeyHolder))
  for (const [name, other] of Object.entries(others)) {
    assert.ok(!(other.secrets ?? []).some(isOfKeyHolder), `${name} has a secret of the key holder`)
    for (const shared of ['key_holder_database:/var/lib/postgresql/data', 'key_holder_database'])
      assert.ok(!JSON.stringify([other.volumes, other.networks]).includes(`"${shared}"`), `${name} shares ${shared}`)
  }
})

test('the server’s side of the token is a file of its own, and names a secret that first-run makes', () => {
  const caller = parse(read('deploy/token.compose.yaml')) as Compose
  assert.deepEqual(Object.keys(caller.services), ['api', 'worker'])
  for (const { environment, secrets } of Object.values(caller.services)) {
    assert.deepEqual(Object.keys(environment ?? {}), ['KEY_HOLDER_URL', 'KEY_HOLDER_KEY', 'KEY_HOLDER_CLIENT_KEY_FILE'])
    for (const key of Object.keys(environment ?? {}))
      assert.ok(Object.hasOwn(Settings.properties, key.replace(/_FILE$/, '')), `there is no setting ${key}`)
    assert.deepEqual(secrets, ['key_holder_client_key'])
  }
  assert.deepEqual(caller.secrets, { key_holder_client_key: { file: 'deploy/secrets/key_holder_client_key' } })
})

test('docs/ops/key-holder-settings.md has a row with the default for every setting of the key holder, and for no other', () => {
  const section = read('docs/ops/key-holder-settings.md')
  const [table = ''] = section.split('\n## ')
  const rows = [...table.matchAll(/^\| `([A-Z_]+)` \| (.*?) \|/gm)].map(([, name, value]) => [name, value])
  const settings = Object.entries(keyHolder.Settings.properties).map(([name, schema]) => {
    const { default: value } = schema as { default?: unknown }
    return [name, value === undefined ? 'required' : `\`${value}\``]
  })
  assert.deepEqual(rows, settings)
})

test('only the ports of the API and of the key holder are published, and only on this machine', () => {
  for (const [name, service] of services) {
    if (name === 'api' || name === 'key-holder') continue
    for (const key of ['ports', 'expose']) assert.equal(service[key], undefined, `${name} publishes a port`)
  }
  const config = loadConfig(textsOf(compose.services.api?.environment), secretsInStock)
  assert.deepEqual(compose.services.api?.ports, [`127.0.0.1:8080:${config.http.port}`])
  assert.equal(only('EXPOSE'), String(config.http.port))
  assert.equal(config.admin.host, '127.0.0.1')
})

test('a container is given longer to stop than the process takes at most', () => {
  const stopping = {
    api: 'apps/server/src/run-api.ts',
    worker: 'apps/server/src/run-worker.ts',
    'key-holder': 'apps/key-holder/src/start.ts',
  }
  for (const [name, service] of ours) {
    const env = textsOf(service.environment)
    const { shutdown } = name === 'key-holder' ? keyHolderConfig(env) : loadConfig(env, secretsInStock)
    const file = stopping[name as keyof typeof stopping]
    const deadlines = [...read(file).matchAll(/deadlineMs: ([^,\n]+)/g)].flatMap((match) =>
      (match[1] ?? '').split('+').map((term) => {
        const setting = /^(?:config\.shutdown\.)?(drainMs|timeoutMs)$/.exec(term.trim())?.[1] as keyof typeof shutdown
        return setting ? shutdown[setting] : Number(term.replaceAll('_', ''))
      }),
    )
    const longestMs = deadlines.reduce((sum, ms) => sum + ms, 0)
    assert.ok(longestMs >= shutdown.timeoutMs, `the deadlines in ${file} were not understood`)
    const graceMs = Number(/^(\d+)s$/.exec(service.stop_grace_period ?? '')?.[1]) * 1000
    assert.ok(graceMs > longestMs, `${name} takes up to ${longestMs} ms and is killed after ${graceMs} ms`)
  }
})

test('the image runs as a numbered user that is not root, says whether it is healthy, and fetches nothing by URL', () => {
  assert.match(only('USER'), /^[1-9]\d*:[1-9]\d*$/)
  assert.match(only('HEALTHCHECK'), /CMD \["node", "deploy\/healthcheck\.ts"\]$/)
  assert.equal(only('STOPSIGNAL'), 'SIGTERM')
  assert.deepEqual(JSON.parse(only('CMD')), ['node', ...API_FLAGS, 'apps/server/src/main-api.ts'])
  assert.deepEqual(
    dockerfile.filter(({ word, text }) => word === 'ADD' || /https?:/.test(text)),
    [],
  )
  for (const [name, { build, command = JSON.parse(only('CMD')) as string[] }] of ours) {
    assert.deepEqual(
      build,
      { context: '.', dockerfile: 'deploy/Dockerfile', args: ['NODE_IMAGE', 'KEY_HOLDER_FINGERPRINT', 'TELEMETRY'] },
      name,
    )
    assert.equal(command[0], 'node')
    assert.ok(shipped().includes(command.at(-1) ?? ''), `${name}: the image has no ${command.at(-1)}`)
  }
})

test('everything the Dockerfile copies exists and is let in by .dockerignore', () => {
  for (const source of copied) {
    assert.ok(existsSync(`${ROOT}${source}`), `${source} does not exist`)
    assert.ok(!isIgnored(source), `.dockerignore keeps ${source} out`)
  }
})

test('the image installs for every workspace that server, command line, key holder and page use', () => {
  const folders = new Map(
    globSync('{apps,packages}/*/package.json', { cwd: ROOT }).map((file) => [JSON.parse(read(file)).name, file]),
  )
  const needed = new Set(['@ostiary/server', '@ostiary/cli', '@ostiary/key-holder', '@ostiary/launch'])
  // A set that grows while it is walked is walked to its new end.
  for (const name of needed) {
    const file = folders.get(name)
    assert.ok(file && copied.includes(file), `deploy/Dockerfile does not copy the package.json of ${name}`)
    for (const other of Object.keys(JSON.parse(read(file)).dependencies ?? {}))
      if (folders.has(other)) needed.add(other)
  }
})

test('the image holds no tests, and every file its sources import', () => {
  const files = shipped()
  assert.ok(files.includes('apps/server/migrations/0001_foundation.sql'))
  assert.ok(files.includes('apps/key-holder/migrations/0001_key_holder.sql'))
  assert.deepEqual(
    files.filter((file) => /\.test\.ts$|\/testing\//.test(file)),
    [],
  )
  for (const file of files.filter((name) => /\.tsx?$/.test(name))) {
    for (const [, target = ''] of read(file).matchAll(/(?:from|import|import\()\s*'(\.[^']+)'/g)) {
      const wanted = path.join(path.dirname(file), target.replace(/\?.*$/, ''))
      assert.ok(files.includes(wanted), `${file} imports ${wanted}, which is not in the image`)
    }
  }
  // The bundler reads these too.
  for (const file of files.filter((name) => path.basename(name) === 'tsconfig.json')) {
    const { extends: base } = JSON.parse(read(file))
    const wanted = base === undefined ? file : path.join(path.dirname(file), base)
    assert.ok(files.includes(wanted), `${file} extends ${wanted}, which is not in the image`)
  }
  assert.ok(statSync(`${ROOT}apps/cli/src/main.ts`).mode & 0o100, 'the command line cannot be executed')
})

test('the page is built in a stage of its own with its models, and lies where the service looks for it', () => {
  const from = dockerfile.findIndex(({ word, rest }) => word === 'FROM' && rest.at(-1) === 'page')
  const rest = dockerfile.slice(from + 1)
  const stage = rest.slice(
    0,
    rest.findIndex(({ word }) => word === 'FROM'),
  )
  const steps = stage.filter(({ word }) => word === 'RUN').map(({ text }) => text)
  assert.match(steps[0] ?? '', /^npm ci --ignore-scripts --include-workspace-root --workspace=apps\/launch /)
  assert.equal(steps[1], 'node models/main.ts')
  assert.match(steps[2] ?? '', /^npm run build --workspace=apps\/launch /)
  const { launch } = loadConfig(textsOf(compose.services.api?.environment), secretsInStock)
  const built = path.relative(ROOT, launch.folder)
  assert.ok(lastStage.some(({ word, text }) => word === 'COPY' && text === `--from=page /ostiary/${built} ${built}`))
  assert.ok(isIgnored(`${built}/index.html`), 'a page that was built in the checkout would get into the image')
  assert.match(steps[3] ?? '', /^node tools\/packages\/main\.ts /)
  assert.ok(lastStage.some(({ word, text }) => word === 'COPY' && text === '--from=page /ostiary/.packages .packages'))
})

test('the example for another host sends the headers that the service sends, and lets the page call the API', () => {
  const example = read('deploy/launch-page.nginx.conf')
  const sent = new Map([...example.matchAll(/add_header (\S+) (".*?"|\S+) always;/g)].map(headerOf))
  const ours = documentHeaders({ embedOrigins: ['https://shop.example'], popup: false })
  for (const [name, value] of Object.entries(ours)) {
    const elsewhere = value.replace("connect-src 'self'", "connect-src 'self' https://api.example")
    assert.equal(sent.get(name), elsewhere, name)
  }
  const common = ['referrer-policy', 'x-content-type-options', 'strict-transport-security', 'cache-control']
  assert.deepEqual([...sent.keys()].sort(), [...Object.keys(ours), ...common].sort())
  // In a block with a header of its own nginx forgets all the others.
  assert.doesNotMatch(example.slice(example.indexOf('\n  location')), /add_header/)
  const page = read('apps/launch/index.html')
  const [, found = ''] = /sub_filter '([^']+)'/.exec(example) ?? []
  assert.ok(page.includes(found), 'the page does not have the line that says where the API is')
})

test('the example for another host keeps for ever what the service lets be kept for ever', () => {
  const patterns = [
    ...read('deploy/launch-page.nginx.conf').matchAll(/"~(\S+)" "public, max-age=31536000, immutable"/g),
  ]
  const isKept = (file: string) => patterns.some(([, pattern = '']) => new RegExp(pattern).test(`/launch/${file}`))
  for (const file of [
    'assets/main-B3xY7_aQ.js',
    'assets/logo.svg',
    'index.html',
    'service-worker.js',
    'models/manifest.json',
    'models/dlib/0123456789ab/dlib.onnx',
    'models/dlib/latest/dlib.onnx',
    'ort/1.30.0/ort.wasm',
    'ort/readme.txt',
  ])
    assert.equal(isKept(file), IMMUTABLE.test(file), file)
})

function headerOf([, name = '', value = '']: RegExpMatchArray): [string, string] {
  return [name.toLowerCase(), value.replaceAll('"', '')]
}

test('the health check follows the process of its container: API, worker or key holder', async (t) => {
  let status = 200
  const server = createServer((_request, response) => response.writeHead(status).end('{}')).listen(0, '127.0.0.1')
  t.after(() => server.close())
  await new Promise((resolve) => server.once('listening', resolve))
  const port = String((server.address() as AddressInfo).port)
  const closed = String((await freePorts(1))[0])

  assert.equal(await healthcheck({ ADMIN_PORT: port, WORKER_ADMIN_PORT: closed }), 0)
  assert.equal(await healthcheck({ ADMIN_PORT: closed, WORKER_ADMIN_PORT: port, ADMIN_HOST: '0.0.0.0' }), 0)
  assert.equal(await healthcheck({ ADMIN_PORT: closed, WORKER_ADMIN_PORT: closed }), 1)
  status = 503
  assert.equal(await healthcheck({ ADMIN_PORT: port, WORKER_ADMIN_PORT: closed }), 1)
})

test('first-run makes secrets that the service accepts, in a folder nobody else can enter', () => {
  const { run, secret, mode } = firstRun()
  // The strictest and the loosest shell must give the same.
  const said = run('umask 000')
  assert.deepEqual([mode(''), mode('master_key'), mode('database_url'), mode('database_password')], MODES)
  for (const name of SERVER_SECRETS) assert.match(said, new RegExp(`created +deploy/secrets/${name}\n`))
  assert.match(said, /docker compose up -d/)
  for (const name of ['master_key', 'database_password']) assert.ok(!said.includes(secret(name)), `${name} was shown`)

  const url = new URL(secret('database_url'))
  assert.deepEqual([url.hostname, url.username, url.pathname], ['db', 'ostiary', '/ostiary'])
  assert.equal(url.password, secret('database_password'))
  assert.match(url.password, /^[0-9a-f]{48}$/)
  assert.ok(Object.hasOwn(compose.services, url.hostname))
  const config = loadConfig(textsOf(compose.services.api?.environment), (file) => secret(path.basename(file)))
  assert.equal(config.masterKeys.length, 1)
})

test('first-run changes nothing the second time, and makes up for what is missing', () => {
  const { run, secret, remove, mode } = firstRun()
  run('umask 077')
  const names = SERVER_SECRETS
  const before = names.map(secret)
  assert.doesNotMatch(run(), /created/)
  assert.deepEqual(names.map(secret), before)

  remove('database_url')
  assert.match(run(), /created +deploy\/secrets\/database_url/)
  assert.deepEqual(names.map(secret), before)
  assert.deepEqual([mode(''), mode('master_key'), mode('database_url'), mode('database_password')], MODES)

  // A new password would not fit the URL, nor the database that already has the old one.
  remove('database_password')
  assert.throws(() => run(), /Write the password of that URL into it/)
})

test('two runs of first-run do not make the same secrets', () => {
  const [one, two] = [firstRun(), firstRun()]
  one.run()
  two.run()
  for (const name of SERVER_SECRETS) assert.notEqual(one.secret(name), two.secret(name))
})

test('first-run for a key holder makes secrets of its own, and leaves the callers to be written', () => {
  const { run, secret, mode, names } = firstRun()
  const said = run('umask 000', 'key-holder')
  assert.deepEqual(names(), Object.keys(compose.secrets).filter(isOfKeyHolder).sort())
  for (const name of names()) assert.equal(mode(name), '644')
  assert.equal(mode(''), '700')
  for (const name of ['key_holder_master_key', 'key_holder_database_password'])
    assert.ok(!said.includes(secret(name)), `${name} was shown`)
  const url = new URL(secret('key_holder_database_url'))
  assert.deepEqual([url.hostname, url.username, url.pathname], ['key-holder-db', 'key_holder', '/key_holder'])
  assert.equal(url.password, secret('key_holder_database_password'))
  const { environment } = compose.services['key-holder'] ?? {}
  const load = (needsCallers: boolean) =>
    keyHolder.loadConfig(textsOf(environment), (file) => secret(path.basename(file)), { needsCallers })
  assert.equal(load(false).masterKeys.length, 1)
  assert.throws(() => load(true), /MATCHER_KEYS: no key found/)
  assert.doesNotMatch(run(':', 'key-holder'), /created/)
})

test('first-run for a server that calls a key holder makes its key, and refuses an unknown word', () => {
  const { run, secret, names } = firstRun()
  run(':', 'token')
  assert.deepEqual(names(), ['key_holder_client_key'])
  assert.equal(Buffer.from(secret('key_holder_client_key'), 'base64').length, 32)
  assert.throws(() => run(':', 'keyholder'), /there is nothing to make but/)
})

const SERVER_SECRETS = Object.keys(compose.secrets).filter((name) => !isOfKeyHolder(name))

const MODES = ['700', '644', '644', '644']

/** deploy/first-run in a folder of its own. `before` is a shell command that runs first. */
function firstRun() {
  const folder = temporaryFolder('first-run')
  mkdirSync(`${folder}/deploy`)
  copyFileSync(`${ROOT}deploy/first-run`, `${folder}/deploy/first-run`)
  const at = (name: string) => `${folder}/deploy/secrets/${name}`
  return {
    run: (before = ':', argument = '') =>
      execFileSync('/bin/sh', ['-c', `${before}; deploy/first-run ${argument}`], {
        cwd: folder,
        env: { PATH: '/usr/bin:/bin' },
        encoding: 'utf8',
        stdio: 'pipe',
      }),
    secret: (name: string) => readFileSync(at(name), 'utf8').trim(),
    mode: (name: string) => (statSync(at(name)).mode & 0o777).toString(8),
    remove: (name: string) => rmSync(at(name)),
    names: () => readdirSync(at('')).sort(),
  }
}

function healthcheck(env: Record<string, string>): Promise<number> {
  return new Promise((resolve) => {
    const child = execFile(process.execPath, [`${ROOT}deploy/healthcheck.ts`], { env }, () =>
      resolve(child.exitCode ?? -1),
    )
  })
}

function fillIn(text: string): string {
  return text.replaceAll(/\$\{?(\w+)(?::-([^}]*))?\}?/g, (_all, name: string, fallback: string | undefined) => {
    assert.ok(fallback !== undefined, `compose.yaml: ${name} has no default`)
    return fallback
  })
}

function textsOf(environment: Record<string, unknown> = {}): Record<string, string> {
  return Object.fromEntries(Object.entries(environment).map(([name, value]) => [name, String(value)]))
}

function keyHolderConfig(env: Record<string, string>) {
  return keyHolder.loadConfig(env, (file) => (file.endsWith('matcher_keys') ? 'A'.repeat(43) : secretsInStock(file)))
}

/** Stands for the mounted files. */
function secretsInStock(file: string): string {
  return file.endsWith('database_url')
    ? 'postgres://ostiary@db/ostiary'
    : Buffer.from([...Array(32).keys()]).toString('base64')
}
