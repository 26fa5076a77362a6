/**
 * The alerts and the dashboard of deploy/. promtool checks the scrapes of a fresh installation, the rules and the ten incidents of
 * rules.test.yml; every expression must find its metrics, labels and their values in those scrapes. A session's trace must reach an OpenTelemetry collector in
 * one piece. Then the only worker is killed, and API, metrics and doctor must say so.
 */
import { spawnSync } from 'node:child_process'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { createDatabase, testSettings } from '@ostiary/testkit/databases'
import { eventually } from '@ostiary/testkit/eventually'
import { startKeyHolder } from '@ostiary/testkit/key-holder'
import type { Figure, Measure } from '@ostiary/testkit/measuring/figure'
import { COMPILED, ROOT, startApi, startServices, startWorker } from '@ostiary/testkit/run'
import { followSession, startCollector } from './collector.ts'
import { findMissing, listPagingIncidents, samplesOf } from './promql.ts'

const PROMTOOL = `${ROOT}.services/prometheus/promtool`
const MISSING = `promtool is not here: run tools/bootstrap, which takes it from Debian's package prometheus, or put it at ${PROMTOOL}`
const DEPLOY = `${ROOT}deploy/prometheus/`
const INCIDENTS = 10
/** How long a worker that was killed may seem to be there: its lease, and the time between two looks. */
const PAGE_SECONDS = 300

type Say = (text: string) => void

export const measure: Measure = async ({ say }) => {
  if (!existsSync(PROMTOOL)) throw new Error(MISSING)
  const database = await createDatabase(startServices(), 'drill')
  const collector = await startCollector()
  const env = {
    ...testSettings(database.url),
    TELEMETRY_URL: collector.url,
    OUTBOUND_ALLOW_NETWORKS: '127.0.0.0/8',
  }
  const keyHolder = await startKeyHolder({ logName: 'drill-alerts' })
  const api = await startApi({ env, logName: 'drill-alerts-api' })
  const worker = await startWorker({ env, logName: 'drill-alerts-worker' })
  try {
    const urls = [api.adminUrl, worker.adminUrl, keyHolder.adminUrl]
    // The times of an operation begin with its first call: those that the rules name. And the first task that ends well.
    for (const path of ['health', 'readyz']) await fetch(`${api.url}/${path}`)
    await fetch(`${api.url}/node/FACE3_1/deleteUser`, { method: 'POST' })
    await eventually(
      async () => (await scrape(worker.adminUrl)).includes('ostiary_task_last_success_timestamp_seconds{'),
      'a task has ended well',
    )
    const scrapes = await Promise.all(urls.map(scrape))
    const faults = checkFiles(scrapes, say)
    const isWhole = await followSession(api, env, collector)
    const seconds = await killWorker({ worker, api, env, say })
    return [
      { name: 'alerts.faults', value: faults, floor: 0, is: 'most' },
      { name: 'alerts.incidents-that-page', value: incidentsThatPage(say), floor: INCIDENTS, is: 'least' },
      { name: 'alerts.trace-in-one-piece', value: isWhole ? 1 : 0, floor: 1, is: 'least' },
      ...seconds,
    ]
  } finally {
    await Promise.all([api.stop(), worker.stop(), keyHolder.remove()])
    await database.drop()
    collector.stop()
  }
}

const scrape = async (adminUrl: string) => (await fetch(`${adminUrl}/metrics`)).text()

/** promtool's finding, or nothing. */
function promtool(args: readonly string[], input?: string): string | undefined {
  const { status, stdout, stderr } = spawnSync(PROMTOOL, args, { input, encoding: 'utf8' })
  return status === 0 && stderr === '' ? undefined : `promtool ${args.join(' ')}: ${stdout}${stderr}`
}

function checkFiles(scrapes: readonly string[], say: Say): number {
  const expressions = [...listRules(), ...listPanels()]
  const samples = samplesOf(scrapes.join('\n'))
  const panels = `${ROOT}.reports/panels.rules.yml`
  writeFileSync(panels, JSON.stringify({ groups: [{ name: 'panels', rules: listPanels().map(asRule) }] }))
  const found = [
    ...scrapes.map((text) => promtool(['check', 'metrics'], text)),
    promtool(['check', 'config', `${DEPLOY}prometheus.yml`]),
    promtool(['check', 'rules', `${DEPLOY}rules.yml`]),
    // The syntax of the panels' expressions.
    promtool(['check', 'rules', '--lint=none', panels]),
    ...expressions.map((expression) => {
      const missing = findMissing(expression, samples)
      return missing && `no scrape has ${missing}: ${expression}`
    }),
  ].filter((one) => one !== undefined)
  for (const fault of found) say(fault)
  say(`${expressions.length} expressions, ${samples.size} names of samples, ${found.length} faults`)
  return found.length
}

const asRule = (expr: string, index: number) => ({ record: `panel:${index}`, expr })

/** The rules' expressions, as promtool reads them: some are written over several lines. */
function listRules(): string[] {
  const text = readFileSync(`${DEPLOY}rules.yml`, 'utf8')
  return [...text.matchAll(/^ {8}expr: (?:>-\n)?((?:.|\n {10})*)$/gm)].map(([, expression = '']) => expression)
}

function listPanels(): string[] {
  const { panels } = JSON.parse(readFileSync(`${ROOT}deploy/grafana/ostiary.json`, 'utf8')) as {
    panels: { targets?: { expr: string }[] }[]
  }
  return panels
    .flatMap(({ targets = [] }) => targets.map(({ expr }) => expr))
    .map((expr) => expr.replaceAll('$__rate_interval', '1m'))
}

/** How many of the numbered incidents page, if all tests of the rules pass. */
function incidentsThatPage(say: Say): number {
  const fault = promtool(['test', 'rules', `${DEPLOY}rules.test.yml`])
  if (fault) say(fault)
  const [tests = '', rules = ''] = ['rules.test.yml', 'rules.yml'].map((file) =>
    readFileSync(`${DEPLOY}${file}`, 'utf8'),
  )
  return fault ? 0 : listPagingIncidents(tests, rules).length
}

interface Scene {
  worker: Awaited<ReturnType<typeof startWorker>>
  api: Awaited<ReturnType<typeof startApi>>
  env: Readonly<Record<string, string>>
  say: Say
}

/** [O3] Who says that the only worker was killed, and after how long. */
async function killWorker({ worker, api, env, say }: Scene): Promise<Figure[]> {
  await worker.stop('SIGKILL')
  const sinceMs = performance.now()
  const seconds = () => Math.round((performance.now() - sinceMs) / 1000)
  await eventually(async () => /^ostiary_workers\{cell="main"\} 0$/m.test(await scrape(api.adminUrl)), 'the gauge is 0')
  const gauge = seconds()
  await eventually(async () => (await fetch(`${api.url}/health`)).status === 503, 'the health is degraded')
  const health = seconds()
  const { details } = (await (await fetch(`${api.url}/health`)).json()) as { details?: { worker?: string } }
  const isReady = (await fetch(`${api.adminUrl}/readyz`)).ok
  const ports = { PORT: new URL(api.url).port, ADMIN_PORT: new URL(api.adminUrl).port }
  const doctor = spawnSync(process.execPath, [`${ROOT}apps/cli/src/main.ts`, 'doctor', '--json'], {
    env: { PATH: process.env.PATH ?? '', ...COMPILED, ...env, ...ports },
    encoding: 'utf8',
  }).stdout
  const check = (JSON.parse(doctor) as { name: string; state: string; finding: string }[]).find(
    ({ name }) => name === 'worker',
  )
  say(`worker killed: gauge after ${gauge} s, health after ${health} s (${details?.worker}), doctor: ${check?.finding}`)
  const isNamed = check?.state === 'failed' && details?.worker !== undefined && isReady
  return [
    { name: 'alerts.worker-gone-seconds', value: Math.max(gauge, health), floor: PAGE_SECONDS, is: 'most' },
    { name: 'alerts.worker-gone-named', value: isNamed ? 1 : 0, floor: 1, is: 'least' },
  ]
}
