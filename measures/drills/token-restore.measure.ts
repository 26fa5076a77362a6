/**
 * Backup, restore and rotation where people are enrolled by token, with the tokens on the server and on devices. Both databases restored:
 * everybody signs in. Only the matcher's older database restored: a token that was renewed or deleted since is refused, the others work. Master
 * keys of both services rotated: everybody signs in when the old keys are gone. A person deleted while the key holder is down: the
 * key holder deletes its share when it is back.
 */
import { execFileSync, spawnSync } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { KeptToken, TokenKeeper } from '@ostiary/device/simulated'
import { createFaces } from '@ostiary/server/measure'
import { createDatabase } from '@ostiary/testkit/databases'
import { runKeyHolder } from '@ostiary/testkit/key-holder'
import type { Figure, Measure } from '@ostiary/testkit/measuring/figure'
import { type Host, openWire } from '@ostiary/testkit/measuring/sessions-load'
import {
  createTokenSession,
  readWebhook,
  startTokenSite,
  type TokenPerson,
  type TokenSite,
  visitSession,
} from '@ostiary/testkit/measuring/token-site'
import { POSTGRES_FOLDER } from '@ostiary/testkit/missing'
import { COMPILED, ROOT, startServices, startWorker } from '@ostiary/testkit/run'
import { inParallel } from './enrols.ts'
import { openTokenDatabases, type TokenDatabases } from './token-census.ts'

const LANES = 3
const KINDS = ['token', 'token_on_device'] as const
/** What happens to the token of each after the backup. */
const FATES = ['kept', 'renewed', 'deleted'] as const

interface Person extends TokenPerson {
  host: Host
  face: readonly number[]
  fate: (typeof FATES)[number]
  puid: string
  kept: Map<string, KeptToken>
}

interface Drill {
  site: TokenSite
  faces: ReturnType<typeof createFaces>
  /** What the two processes run with now. */
  api: Record<string, string>
  keyHolder: Record<string, string>
  folder: string
  dropLater: (() => Promise<void>)[]
  say(text: string): void
}

export const measure: Measure = async ({ say }) => {
  const site = await startTokenSite({ name: 'drill-token-restore' })
  const drill: Drill = {
    ...{ site, say, faces: createFaces(43), dropLater: [] },
    api: { ...site.settings },
    keyHolder: { ...site.keyHolder.env },
    folder: mkdtempSync(join(tmpdir(), 'ostiary-backup-')),
  }
  try {
    const people = await enrolAll(drill)
    const backup = { api: dump(drill, drill.api), keyHolder: dump(drill, drill.keyHolder) }
    await restoreBoth(drill, backup)
    const figures: Figure[] = [least('restored-both.signed-in', await countSignedIn(drill, people), people.length)]
    figures.push(...(await restoreMatcherOnly(drill, people, backup.api)))
    const rest = people.filter(({ fate }) => fate !== 'deleted')
    await rotateKeyHolder(drill)
    figures.push(least('key-holder-rotated.signed-in', await countSignedIn(drill, rest), rest.length))
    await rotateServer(drill)
    figures.push(least('server-rotated.signed-in', await countSignedIn(drill, rest), rest.length))
    figures.push(...(await eraseWhileAway(drill, rest)))
    return figures
  } finally {
    await site.close()
    for (const drop of drill.dropLater) await drop()
    rmSync(drill.folder, { recursive: true, force: true })
  }
}

function least(name: string, value: number, floor: number): Figure {
  return { name: `token-restore.${name}`, value, floor, is: 'least' }
}

function most(name: string, value: number): Figure {
  return { name: `token-restore.${name}`, value, floor: 0, is: 'most' }
}

async function enrolAll({ site, faces, say }: Drill): Promise<Person[]> {
  const people: Person[] = []
  for (const kind of KINDS) {
    const host = await site.newHost(kind, kind)
    for (const fate of FATES) {
      const kept = new Map<string, KeptToken>()
      const number = people.length + 1
      const person = { number, host, face: faces.person(), fate, puid: '', kept, keeper: keeperOf(kept) }
      const { puid, state } = await visit(site, 'ENROLL', person, person.face)
      if (puid === undefined) throw new Error(`An enrolment ended as ${state}`)
      people.push({ ...person, puid })
    }
  }
  say(`${people.length} people are enrolled, half of them with the token on their device`)
  return people
}

async function visit({ api }: TokenSite, type: 'ENROLL' | 'SIGN-IN', person: Person, face: readonly number[]) {
  const { host } = person
  const baseUrl = api().url
  const sessionId = await createTokenSession(baseUrl, { host, type })
  const { state } = await visitSession(baseUrl, sessionId, { host, type, person, face })
  const webhook = await readWebhook(baseUrl, host, sessionId)
  return { state, puid: state === 'SUCCESS' ? webhook?.puid : undefined }
}

/** Whether the person gets in, as themselves. */
async function signsIn({ site, faces, say }: Drill, person: Person): Promise<boolean> {
  const { state, puid } = await visit(site, 'SIGN-IN', person, faces.sample(person.face, 0.8))
  if (puid !== person.puid) say(`person ${person.number} (${person.fate}): ${state}`)
  return puid === person.puid
}

async function countSignedIn(drill: Drill, people: readonly Person[]): Promise<number> {
  let count = 0
  await inParallel(people.length, LANES, async (n) => {
    const person = people[n]
    if (person && (await signsIn(drill, person))) count++
  })
  return count
}

function dump({ folder }: Drill, { DATABASE_URL = '' }: Record<string, string>): string {
  const file = join(folder, `${new URL(DATABASE_URL).pathname.slice(1)}.dump`)
  execFileSync(join(POSTGRES_FOLDER, 'pg_dump'), ['--format=custom', `--file=${file}`, `--dbname=${DATABASE_URL}`])
  return file
}

/** Into a new database. Returns its address. */
async function restore({ dropLater }: Drill, file: string): Promise<string> {
  const { url, drop } = await createDatabase(startServices(), 'restored')
  dropLater.push(drop)
  execFileSync(join(POSTGRES_FOLDER, 'pg_restore'), ['--no-owner', '--exit-on-error', `--dbname=${url}`, file])
  return url
}

async function restoreBoth(drill: Drill, backup: Record<'api' | 'keyHolder', string>): Promise<void> {
  const { site, say } = drill
  await Promise.all([site.api().stop(), site.keyHolder.stop()])
  drill.keyHolder.DATABASE_URL = await restore(drill, backup.keyHolder)
  drill.api.DATABASE_URL = await restore(drill, backup.api)
  await site.keyHolder.start(drill.keyHolder)
  await site.restartApi(drill.api)
  say('both databases are restored from their backups')
}

/** The matcher comes back from an older backup; the key holder has gone on. */
async function restoreMatcherOnly(drill: Drill, people: readonly Person[], backup: string): Promise<Figure[]> {
  const { site, say } = drill
  const before = people.map(copyOf)
  await withDatabases(drill, async (databases) => {
    for (const { fate, puid } of people) if (fate === 'renewed') await databases.useUp(puid)
  })
  const renewed = people.filter(({ fate }) => fate === 'renewed')
  if ((await countSignedIn(drill, renewed)) !== renewed.length) throw new Error('A token was not renewed')
  await withWire(drill, async (wire) => {
    for (const { fate, puid, host } of people) {
      const owner = { tenantId: host.tenantId, livemode: false }
      if (fate === 'deleted') await wire.biometrics.recognition.delete(owner, puid)
    }
    await sendErasures(wire)
  })
  await site.api().stop()
  await site.restartApi({ ...drill.api, DATABASE_URL: await restore(drill, backup) })
  say('the matcher is back from its backup; since then a third of the tokens were renewed and a third deleted')
  // The devices as they were then: their old tokens are in the restored database.
  const outdated = before.filter(({ fate }) => fate !== 'kept')
  const accepted = await countSignedIn(drill, outdated)
  const kept = people.filter(({ fate }) => fate === 'kept')
  const working = await countSignedIn(drill, kept)
  await site.api().stop()
  await site.restartApi(drill.api)
  return [
    least('old-matcher.refused', outdated.length - accepted, (2 / 3) * people.length),
    most('old-matcher.accepted', accepted),
    least('old-matcher.others-signed-in', working, kept.length),
  ]
}

/** What a device keeps can be copied. */
function keeperOf(kept: Map<string, KeptToken>): TokenKeeper {
  return { find: async (realm) => kept.get(realm), keep: async (token) => void kept.set(token.realm, token) }
}

/** The same person and device, with what the device keeps now. */
function copyOf(person: Person): Person {
  const kept = new Map(person.kept)
  return { ...person, kept, keeper: keeperOf(kept) }
}

async function rotateKeyHolder(drill: Drill): Promise<void> {
  const { site, say, keyHolder } = drill
  const [old, fresh] = [keyHolder.MASTER_KEY ?? '', randomBytes(32).toString('base64')]
  await site.keyHolder.stop()
  const printed = runKeyHolder({ ...keyHolder, MASTER_KEY: `${fresh}\n${old}` }, 'reseal')
  keyHolder.MASTER_KEY = fresh
  await site.keyHolder.start(keyHolder)
  say(`key holder: ${printed.trim()}`)
}

async function rotateServer(drill: Drill): Promise<void> {
  const { site, say, api } = drill
  const [old, fresh] = [api.MASTER_KEY ?? '', randomBytes(32).toString('base64')]
  await site.api().stop()
  // It ends with 1 while messages of webhooks need the old key; nobody waits for those here.
  const { stdout } = spawnSync(process.execPath, [`${ROOT}apps/cli/src/main.ts`, 'reseal'], {
    env: { PATH: process.env.PATH ?? '', ...COMPILED, ...api, MASTER_KEY: `${fresh}\n${old}` },
    encoding: 'utf8',
  })
  api.MASTER_KEY = fresh
  await site.restartApi(api)
  say(`server: ${stdout.trim()}`)
}

async function eraseWhileAway(drill: Drill, people: readonly Person[]): Promise<Figure[]> {
  const { site, say } = drill
  await site.keyHolder.kill()
  return withWire(drill, async (wire) => {
    for (const { puid, host } of people)
      await wire.biometrics.recognition.delete({ tenantId: host.tenantId, livemode: false }, puid)
    await sendErasures(wire)
    const { count: waited } = await wire.matcher.erasures.waiting()
    const shown = await readMetric(drill)
    await site.keyHolder.start(drill.keyHolder)
    await sendErasures(wire, new Date(Date.now() + 3_600_000))
    const left = await withDatabases(drill, async ({ keyShares }) => (await keyShares()).length)
    say(`${waited} erasures waited while the key holder was away (the metric says ${shown}); ${left} shares are left`)
    return [
      least('erasures-waited', waited, people.length),
      least('erasures-in-metric', shown, people.length),
      most('erasures-left', (await wire.matcher.erasures.waiting()).count),
      most('shares-left', left),
    ]
  })
}

/** Of a worker, which watches them. */
async function readMetric({ api }: Drill): Promise<number> {
  const { PORT: _port, ADMIN_PORT: _adminPort, ...env } = api
  const worker = await startWorker({ env, logName: 'drill-token-restore-worker' })
  const text = await (await fetch(`${worker.adminUrl}/metrics`)).text()
  await worker.stop('SIGKILL')
  return Number(/ostiary_key_holder_erasures_waiting\{what="count"\} (\d+)/.exec(text)?.[1])
}

type Wire = ReturnType<typeof openWire>

async function sendErasures(wire: Wire, now = new Date()): Promise<void> {
  for (const { db } of wire.platform.cells.all()) await wire.matcher.erasures.sendDue(db, now)
}

async function withWire<T>({ api }: Drill, work: (wire: Wire) => Promise<T>): Promise<T> {
  const wire = openWire(api)
  try {
    return await work(wire)
  } finally {
    await wire.close()
  }
}

async function withDatabases<T>(
  { api, keyHolder }: Drill,
  work: (databases: TokenDatabases) => Promise<T>,
): Promise<T> {
  const databases = await openTokenDatabases(api.DATABASE_URL ?? '', keyHolder.DATABASE_URL ?? '')
  try {
    return await work(databases)
  } finally {
    await databases.close()
  }
}
