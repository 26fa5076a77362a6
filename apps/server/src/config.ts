import { readFileSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { fileURLToPath } from 'node:url'
import { parseMasterKeys } from '@ostiary/service-kit/sealing'
import { ConfigError, type Environment, readSettings } from '@ostiary/service-kit/settings'
import Type from 'typebox'
import { type CellMap, parseCellMap, singleCell } from './platform/cells.ts'
import { parseNetworks } from './platform/outbound/address.ts'
import { isNetwork, splitList } from './setting-lists.ts'

const port = (fallback: number, description: string) =>
  Type.Integer({ minimum: 1, maximum: 65535, default: fallback, description })

const folder = (description: string) => Type.Optional(Type.String({ minLength: 1, description }))

/**
 * All settings. docs/configuration.md is generated from this. Settings marked secret have no default, and each
 * can also be read from the file that the variable with the suffix `_FILE` names.
 */
export const Settings = Type.Object({
  DATABASE_URL: Type.Optional(
    Type.String({
      pattern: '^postgres(ql)?://',
      secret: true,
      description:
        'PostgreSQL 15 or newer with pgvector 0.8: `postgres://user:password@host:5432/database`. Required unless `CELLS_FILE` is set',
    }),
  ),
  DATABASE_DIRECT_URL: Type.Optional(
    Type.String({
      pattern: '^postgres(ql)?://',
      secret: true,
      description:
        'PostgreSQL itself, when `DATABASE_URL` leads to a pooler such as PgBouncer: migrations, vacuums and index builds go there. See ops/pgbouncer.md',
    }),
  ),
  CELLS_FILE: Type.Optional(
    Type.String({
      description:
        'JSON file that maps the 1,024 buckets to several databases; see ops/cells.md. Replaces `DATABASE_URL`',
    }),
  ),
  MASTER_KEY: Type.Optional(
    Type.String({
      secret: true,
      description:
        'Seals stored secrets: base64 of 32 random bytes (`openssl rand -base64 32`). Required. With several lines the first seals and all open',
    }),
  ),
  HOST: Type.String({ default: '127.0.0.1', description: 'Address the API listens on; `0.0.0.0` in a container' }),
  PORT: port(8080, 'Port of the API'),
  ADMIN_HOST: Type.String({
    default: '127.0.0.1',
    description: 'Address of the admin ports. They need no key: never publish them',
  }),
  ADMIN_HOST_NAMES: Type.String({
    default: '',
    description:
      'Host names, comma-separated, by which the admin ports may be asked (`api,worker`, as Prometheus writes them). Addresses and `localhost` always may; any other name is 421',
  }),
  ADMIN_PORT: port(9400, 'The API process’s `/metrics`, `/livez`, `/readyz` and `/reference`'),
  WORKER_ADMIN_PORT: port(9401, 'The worker process’s `/metrics`, `/livez` and `/readyz`'),
  SERVICE_NAME: Type.String({
    minLength: 1,
    default: 'ostiary',
    description: 'Name in the descriptor and in `/health`',
  }),
  PUBLIC_URL: Type.String({
    pattern: '^https?://[^?#]+$',
    default: 'http://localhost:8080',
    description:
      'Where end users reach this installation, without a slash at the end. https in production: browsers give the camera to nothing else',
  }),
  LAUNCH_URL: Type.Optional(
    Type.String({
      pattern: '^https?://[^#]+$',
      description:
        'Where the launch page is, when another host serves it; `PUBLIC_URL` with `/launch/` otherwise. Its origin may call the device API',
    }),
  ),
  LAUNCH_DIR: folder(
    'Folder of the built launch page, served under `/launch/`; `apps/launch/dist` of the checkout when not set. Read when the API starts',
  ),
  AUTH_REQUIRED_AREAS: Type.String({
    pattern: '^([AB](,[AB])*)?$',
    default: '',
    description:
      'Areas that are closed to callers without a key: `A`, `B` or `A,B`. The other areas always need one. Set `A,B` in production',
  }),
  TRUST_PROXY: Type.String({
    pattern: '^[0-9a-fA-F.:/, ]*$',
    default: '',
    description:
      'Addresses or networks of your reverse proxies, comma-separated. Only their `X-Forwarded-For` and `X-Forwarded-Host` are believed, so they must set or overwrite both: a proxy that passes on what it got lets every caller choose an address',
  }),
  MIGRATE_ON_START: Type.Boolean({
    default: true,
    description:
      'Apply pending migrations when a process starts. With `false`, run `ostiary migrate` first: a process refuses to start on an old schema',
  }),
  DATABASE_POOL_MAX: Type.Integer({
    minimum: 1,
    maximum: 200,
    default: 8,
    description:
      'Connections per process and cell. One tenant occupies at most half of them, and four suffice at full load',
  }),
  DATABASE_STATEMENT_TIMEOUT_MS: Type.Integer({
    minimum: 100,
    maximum: 600_000,
    default: 5_000,
    description: 'A statement that takes longer is cancelled and answered with 503',
  }),
  DATABASE_CONNECT_TIMEOUT_MS: Type.Integer({
    minimum: 100,
    maximum: 600_000,
    default: 3_000,
    description: 'A request that gets no connection for so long, new or from the pool, is answered with 503',
  }),
  SANCTIONS_DIR: Type.String({
    minLength: 1,
    default: './data/sanctions',
    description:
      'Area B: folder of the datasets, shared by all processes that serve or refresh them. Relative to the working directory',
  }),
  SANCTIONS_KEEP_VERSIONS: Type.Integer({
    minimum: 1,
    maximum: 1_000,
    default: 5,
    description: 'Area B: versions of a dataset that stay on disk, so that a check can be repeated or an import undone',
  }),
  SANCTIONS_THREADS: Type.Integer({
    minimum: 0,
    maximum: 256,
    default: 0,
    description:
      'Area B: threads of the API process that match rows; 0 for one less than there are processors, so that one is left for everything else',
  }),
  SANCTIONS_FILE_SECONDS: Type.Integer({
    minimum: 1,
    maximum: 3_600,
    default: 120,
    description:
      'Area B: processor time that the rows of one file may take below the default `scoreThreshold` of 0.95; beyond it the file is answered with 413 `FILE_TOO_COSTLY`. At 0.95 and above every file completes. 40,000 rows against a million entries take 5',
  }),
  SANCTIONS_SOURCES_FILE: Type.Optional(
    Type.String({
      description: 'Area B: JSON file that says which datasets the worker refreshes, from where and how often',
    }),
  ),
  NETWORK_LISTS_DIR: folder(
    'Areas C and D: folder with your lists of networks, `tor.txt`, `datacenter.txt` and `countries.csv`, for the risk flags that need them; see ops/network-lists.md. Looked at once a minute',
  ),
  OUTBOUND_ALLOW_NETWORKS: Type.String({
    pattern: '^[0-9a-fA-F.:/, ]*$',
    default: '',
    description:
      'Private networks that webhooks may call and lists may be downloaded from, comma-separated, for example `10.1.2.0/24`. Without it only public addresses are called',
  }),
  EVENTS_LIVE: Type.Boolean({
    default: false,
    description:
      'Whether live events are in the event stream (`GET /events`) too, for API and worker. Test events always are. It is for development: in production use webhooks',
  }),
  KEY_HOLDER_URL: Type.Optional(
    Type.String({
      pattern: '^https?://[^?#]+$',
      description:
        'Area D with `templates: token`: where the key holder is, without a slash at the end (ops/key-holder.md). It should run on another machine, under another administrator',
    }),
  ),
  KEY_HOLDER_KEY: Type.Optional(
    Type.String({
      pattern: '^[A-Za-z0-9_-]{43}$',
      description: 'The public key that signs the key holder’s replies: `serviceKey` of its command `keys`',
    }),
  ),
  KEY_HOLDER_CLIENT_KEY: Type.Optional(
    Type.String({
      secret: true,
      description:
        'Signs our requests to the key holder: base64 of 32 random bytes (`openssl rand -base64 32`). `ostiary key-holder` prints the public half for its operator',
    }),
  ),
  SHUTDOWN_DRAIN_MS: Type.Integer({
    minimum: 0,
    maximum: 300_000,
    default: 0,
    description:
      'How long a stopping process keeps serving while `/readyz` says 503, so that load balancers notice. Behind one: 5000',
  }),
  SHUTDOWN_TIMEOUT_MS: Type.Integer({
    minimum: 100,
    maximum: 300_000,
    default: 10_000,
    description: 'How long open requests and jobs may take to end',
  }),
  LOG_LEVEL: Type.Union(
    ['fatal', 'error', 'warn', 'info', 'debug'].map((level) => Type.Literal(level)),
    { default: 'info', description: 'Lines below this level are not written' },
  ),
  TELEMETRY_URL: Type.Optional(
    Type.String({
      pattern: '^https?://[^?#]+$',
      description:
        'OpenTelemetry collector that gets spans of calls, webhooks and tasks by OTLP over HTTP, as in `http://collector:4318`. Needs the workspace packages/telemetry; see ops/opentelemetry.md',
    }),
  ),
  TELEMETRY_RATIO: Type.Number({ minimum: 0, maximum: 1, default: 1, description: 'Share of our traces to send' }),
})

export interface Config {
  cells: CellMap
  /** Reads the databases again, when they came from a file. Undefined while the file is not valid. */
  rereadCells?: () => CellMap | undefined
  /** The public URL of this installation, without a slash at the end. */
  publicUrl: string
  masterKeys: readonly Buffer[]
  serviceName: string
  authRequiredAreas: ReadonlySet<string>
  migrateOnStart: boolean
  logLevel: string
  /** Null: no OpenTelemetry. */
  telemetry: { url: string; ratio: number } | null
  http: { host: string; port: number; trustProxy: readonly string[] }
  admin: { host: string; hostNames: readonly string[]; port: number; workerPort: number }
  database: { poolMax: number; statementTimeoutMs: number; connectTimeoutMs: number }
  shutdown: { drainMs: number; timeoutMs: number }
  outbound: { allowNetworks: readonly string[] }
  /** The event stream: whether live events are in it. */
  events: { live: boolean }
  launch: LaunchConfig
  networkListsDir: string | null
  sanctions: SanctionsConfig
  /** Null: this installation has no key holder. */
  keyHolder: { url: string; serviceKey: string; clientKey: Buffer } | null
}

export interface LaunchConfig {
  url: string
  /** The folder with the built page on this machine. */
  folder: string
  /** Whether this installation serves the page, or another host does. */
  isOurs: boolean
}

/** The settings of area B alone, for the commands about datasets. */
export type SanctionsConfig = ReturnType<typeof sanctionsOf>

export { ConfigError, type Environment } from '@ostiary/service-kit/settings'

/** Reads the environment once, at the start of a process. Throws a ConfigError that lists every wrong setting. */
export function loadConfig(env: Environment, readFile = (path: string) => readFileSync(path, 'utf8')): Config {
  const problems: string[] = []
  const attempt = <T>(name: string, work: () => T): T | undefined => {
    try {
      return work()
    } catch (error) {
      problems.push(
        `${name}: ${(error as NodeJS.ErrnoException).code === 'ENOENT' ? 'the file does not exist' : (error as Error).message}`,
      )
      return undefined
    }
  }
  const values = readSettings(Settings, env, readFile, problems)

  const { CELLS_FILE: cellsFile, DATABASE_URL: url, DATABASE_DIRECT_URL: directUrl, MASTER_KEY: masterKey } = values
  if (cellsFile && url) problems.push('CELLS_FILE: set either this or DATABASE_URL')
  if (cellsFile && directUrl)
    problems.push('DATABASE_DIRECT_URL: with CELLS_FILE, write directUrl beside the url of a cell')
  if (!cellsFile && !url) problems.push('DATABASE_URL: is required')
  if (!masterKey && !problems.some((problem) => problem.startsWith('MASTER_KEY_FILE'))) {
    problems.push('MASTER_KEY: is required (or MASTER_KEY_FILE); make one with: openssl rand -base64 32')
  }
  const cells = cellsFile
    ? attempt('CELLS_FILE', () => parseCellMap(readFile(cellsFile)))
    : singleCell(url ?? '', directUrl)
  for (const [name, value] of Object.entries({ DATABASE_URL: url, DATABASE_DIRECT_URL: directUrl })) {
    if (value !== undefined && !URL.canParse(value))
      problems.push(`${name}: is not a valid URL; are special characters in the password encoded?`)
  }
  if (!splitList(String(values.TRUST_PROXY)).every((entry) => isNetwork(entry)))
    problems.push('TRUST_PROXY: must be addresses or networks such as 192.0.2.0/24')
  const launch = launchOf(values)
  if (!URL.canParse(launch.url)) problems.push(`${launch.isOurs ? 'PUBLIC' : 'LAUNCH'}_URL: is not a valid URL`)
  attempt('OUTBOUND_ALLOW_NETWORKS', () => parseNetworks(splitList(values.OUTBOUND_ALLOW_NETWORKS)))
  const keyHolder = keyHolderOf(values, problems)
  const masterKeys = masterKey ? attempt('MASTER_KEY', () => parseMasterKeys(masterKey)) : undefined
  if (problems.length > 0 || !cells || !masterKeys) throw new ConfigError(problems, 'docs/configuration.md')

  return Object.freeze({
    cells,
    ...(isInFile(env) && { rereadCells: () => rereadCells(env, readFile) }),
    publicUrl: withoutSlash(values.PUBLIC_URL),
    masterKeys,
    serviceName: values.SERVICE_NAME,
    authRequiredAreas: new Set(splitList(values.AUTH_REQUIRED_AREAS)),
    migrateOnStart: values.MIGRATE_ON_START,
    logLevel: values.LOG_LEVEL,
    telemetry: values.TELEMETRY_URL ? { url: withoutSlash(values.TELEMETRY_URL), ratio: values.TELEMETRY_RATIO } : null,
    http: { host: values.HOST, port: values.PORT, trustProxy: splitList(values.TRUST_PROXY) },
    admin: {
      host: values.ADMIN_HOST,
      hostNames: splitList(values.ADMIN_HOST_NAMES.toLowerCase()),
      port: values.ADMIN_PORT,
      workerPort: values.WORKER_ADMIN_PORT,
    },
    database: {
      poolMax: values.DATABASE_POOL_MAX,
      statementTimeoutMs: values.DATABASE_STATEMENT_TIMEOUT_MS,
      connectTimeoutMs: values.DATABASE_CONNECT_TIMEOUT_MS,
    },
    shutdown: { drainMs: values.SHUTDOWN_DRAIN_MS, timeoutMs: values.SHUTDOWN_TIMEOUT_MS },
    outbound: { allowNetworks: splitList(values.OUTBOUND_ALLOW_NETWORKS) },
    events: { live: values.EVENTS_LIVE },
    launch,
    networkListsDir: values.NETWORK_LISTS_DIR ?? null,
    sanctions: sanctionsOf(values),
    keyHolder,
  })
}

const isInFile = ({ CELLS_FILE, DATABASE_URL_FILE, DATABASE_DIRECT_URL_FILE }: Environment): boolean =>
  Boolean(CELLS_FILE || DATABASE_URL_FILE || DATABASE_DIRECT_URL_FILE)

/** A file that is being written, or is wrong, changes nothing. */
function rereadCells(env: Environment, readFile: (path: string) => string): CellMap | undefined {
  try {
    return loadConfig(env, readFile).cells
  } catch {
    return undefined
  }
}

const CLIENT_KEY_BYTES = 32

/** All three, or none. */
function keyHolderOf(values: Type.Static<typeof Settings>, problems: string[]): Config['keyHolder'] {
  const { KEY_HOLDER_URL: url, KEY_HOLDER_KEY: serviceKey, KEY_HOLDER_CLIENT_KEY: clientText } = values
  if (url === undefined && serviceKey === undefined && clientText === undefined) return null
  if (url === undefined || serviceKey === undefined || clientText === undefined) {
    problems.push('KEY_HOLDER_URL, KEY_HOLDER_KEY and KEY_HOLDER_CLIENT_KEY: set all of them or none')
    return null
  }
  const clientKey = Buffer.from(clientText.trim(), 'base64')
  if (clientKey.length !== CLIENT_KEY_BYTES) problems.push('KEY_HOLDER_CLIENT_KEY: must be base64 of 32 bytes')
  if (!URL.canParse(url)) problems.push('KEY_HOLDER_URL: is not a valid URL')
  return { url: withoutSlash(url), serviceKey, clientKey }
}

function launchOf({ LAUNCH_URL, LAUNCH_DIR, PUBLIC_URL }: Type.Static<typeof Settings>): LaunchConfig {
  return {
    url: LAUNCH_URL ?? `${withoutSlash(PUBLIC_URL)}/launch/`,
    folder: LAUNCH_DIR ?? fileURLToPath(new URL('../../launch/dist', import.meta.url)),
    isOurs: LAUNCH_URL === undefined,
  }
}

const withoutSlash = (url: string): string => url.replace(/\/+$/, '')

const SanctionsSettings = Type.Pick(Settings, [
  'SANCTIONS_DIR',
  'SANCTIONS_KEEP_VERSIONS',
  'SANCTIONS_THREADS',
  'SANCTIONS_FILE_SECONDS',
  'SANCTIONS_SOURCES_FILE',
])

/** The settings of area B alone: lists can be imported on a machine that knows neither database nor master key. */
export function loadSanctionsConfig(env: Environment): SanctionsConfig {
  const problems: string[] = []
  const values = readSettings(SanctionsSettings, env, () => '', problems)
  if (problems.length > 0) throw new ConfigError(problems, 'docs/configuration.md')
  return sanctionsOf(values)
}

/** The networks that lists may be downloaded from besides public ones. */
export function loadAllowedNetworks(env: Environment): readonly string[] {
  const problems: string[] = []
  const values = readSettings(Type.Pick(Settings, ['OUTBOUND_ALLOW_NETWORKS']), env, () => '', problems)
  const networks = splitList(values.OUTBOUND_ALLOW_NETWORKS ?? '')
  try {
    parseNetworks(networks)
  } catch (error) {
    problems.push(`OUTBOUND_ALLOW_NETWORKS: ${(error as Error).message}`)
  }
  if (problems.length > 0) throw new ConfigError(problems, 'docs/configuration.md')
  return networks
}

function sanctionsOf(values: Type.Static<typeof SanctionsSettings>) {
  return {
    dir: values.SANCTIONS_DIR,
    keepVersions: values.SANCTIONS_KEEP_VERSIONS,
    threads: values.SANCTIONS_THREADS || Math.max(1, availableParallelism() - 1),
    fileSeconds: values.SANCTIONS_FILE_SECONDS,
    sourcesFile: values.SANCTIONS_SOURCES_FILE ?? null,
  }
}
