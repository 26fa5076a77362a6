/**
 * New versions of a list come in while 20 files are in flight, and one is rolled back. Every file must be answered, from
 * one version, and rightly for that version. Beside them go files that ask for an earlier version, and one whose upload
 * is so slow that its version is out of service, and in service again, before the file is there.
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { request } from 'node:http'
import { setPriority, tmpdir } from 'node:os'
import { join } from 'node:path'
import consumers from 'node:stream/consumers'
import type { ScreenReply } from '@ostiary/contract'
import { createDatabase, testSettings } from '@ostiary/testkit/databases'
import type { Measure } from '@ostiary/testkit/measuring/figure'
import { ostiary, sleep, startApi, startServices } from '@ostiary/testkit/run'
import { type BaseAnswer, createKeys, createVersions, DATASET, judge, postFile, startOstiary } from './swap.ts'

const TENANTS = 10
const FILES_EACH = 2
const FILES = 100

interface Imported {
  version: string
}

export const measure: Measure = async ({ full, say }) => {
  const swaps = full ? 10 : 3
  const entities = full ? 20_000 : 5_000
  const folder = mkdtempSync(join(tmpdir(), 'ostiary-swap-'))
  const database = await createDatabase(startServices(), 'drill')
  const settings = {
    ...testSettings(database.url),
    SANCTIONS_DIR: join(folder, 'lists'),
    SANCTIONS_KEEP_VERSIONS: '3',
  }
  const versions = createVersions({ folder, entities, versions: swaps + 1, baseRows: 60, strangers: 240 })
  const imported = new Map<string, number>()
  const order: string[] = []
  const note = (number: number, { version }: Imported) => {
    imported.set(version, number)
    order.push(version)
  }
  note(0, ostiary<Imported>(settings, 'datasets', 'import', DATASET, versions.write(0), '--licence', 'none'))
  const api = await startApi({ env: settings, logName: 'drill-swap-dataset' })
  // Give the imports a higher priority: beside 20 files they would take most of the time.
  setPriority(api.pid, 10)
  try {
    const [replayKey = '', slowKey = '', ...keys] = await createKeys(settings, TENANTS + 2)
    const log = createLog(swaps + 1)
    const quiet = await postFile(api.url, keys[0] ?? '', versions.file('quiet'))
    log.base = log.read('quiet', 'quiet', quiet.status, await quiet.text())
    say(`${entities} people on the list; version 0 serves, ${log.base?.size ?? 0} of the base rows match`)

    let running = true
    const lane = async (kind: string, name: string, key: string, query: () => string) => {
      for (let turn = 0; running; turn++) {
        const tag = `${name}.${turn}`
        const started = performance.now()
        try {
          const response = await postFile(api.url, key, versions.file(tag), query())
          log.read(kind, tag, response.status, await response.text())
        } catch (error) {
          log.fail(kind, `${(error as Error).name}: ${(error as Error).message}`)
        }
        log.longest = Math.max(log.longest, performance.now() - started)
      }
    }
    const lanes = keys.flatMap((key, tenant) =>
      Array.from({ length: FILES_EACH }, (_, n) => lane('file', `f${tenant}.${n}`, key, () => '')),
    )
    for (let n = 0; n < FILES_EACH; n++) {
      const earlier = () => `?version=${encodeURIComponent(order.at(-2) ?? order[0] ?? '')}`
      lanes.push(lane('replay', `r${n}`, replayKey, earlier))
    }

    const bringIn = async (number: number) => {
      const started = performance.now()
      const path = versions.write(number)
      const command = startOstiary<Imported>(settings, 'datasets', 'import', DATASET, path, '--licence', 'none')
      note(number, await command.printed)
      const importedAt = performance.now()
      await log.untilSeen(number)
      const [took, then] = [importedAt - started, performance.now() - importedAt]
      say(
        `version ${number} imported in ${(took / 1000).toFixed(1)} s, first answer ${(then / 1000).toFixed(1)} s later`,
      )
    }
    for (let number = 1; number < swaps; number++) await bringIn(number)
    const slow = startSlowly(api.url, slowKey, versions.file('slow'))
    await sleep(500)
    await bringIn(swaps)
    log.forget(swaps - 1)
    const { to } = await startOstiary<{ to: string }>(settings, 'datasets', 'rollback', DATASET).printed
    if (imported.get(to) !== swaps - 1) throw new Error(`The rollback went to ${to}`)
    await log.untilSeen(swaps - 1)
    const late = await slow.finish()
    log.read('slow', 'slow', late.status, late.text)
    say(`rolled back to version ${swaps - 1}; the slow file was answered ${late.status}`)
    // What the slow file leaves behind must not harm those that come after it.
    const enough = Math.max(FILES, log.files.file + 3 * TENANTS)
    while (log.files.file < enough && log.errors.size === 0) await sleep(100)
    running = false
    await Promise.all(lanes)

    for (const [version, number] of log.pairs) {
      if (imported.get(version) !== number) log.wrong.set(`${version} answers with the people of ${number}`, 1)
    }
    for (const [fault, times] of [...log.errors].slice(0, 10)) say(`ERROR ${times}x ${fault}`)
    for (const [fault, times] of [...log.wrong].slice(0, 10)) say(`WRONG ${times}x ${fault}`)
    const { file, replay, slow: slowFiles } = log.files
    say(
      `${file} files, ${replay} of an earlier version, ${slowFiles} slow; the longest took ${(log.longest / 1000).toFixed(2)} s`,
    )
    const total = (counts: ReadonlyMap<string, number>) => [...counts.values()].reduce((sum, times) => sum + times, 0)
    return [
      { name: 'swap.errors', value: total(log.errors), floor: 0, is: 'most' },
      { name: 'swap.wrong-answers', value: total(log.wrong), floor: 0, is: 'most' },
      { name: 'swap.versions-seen', value: log.pairs.size, floor: swaps + 1, is: 'least' },
      { name: 'swap.files', value: file, floor: FILES, is: 'least' },
    ]
  } finally {
    await api.stop()
    await database.drop()
    rmSync(folder, { recursive: true, force: true })
  }
}

/** What came back so far. */
function createLog(versions: number) {
  const add = (counts: Map<string, number>, name: string) => counts.set(name, (counts.get(name) ?? 0) + 1)
  const seen = new Set<number>()
  const log = {
    errors: new Map<string, number>(),
    wrong: new Map<string, number>(),
    files: { quiet: 0, file: 0, replay: 0, slow: 0 } as Record<string, number> &
      Record<'file' | 'replay' | 'slow', number>,
    /** The name of a version and the number that its entries show. */
    pairs: new Map<string, number>(),
    longest: 0,
    base: undefined as BaseAnswer | undefined,
    fail: (kind: string, fault: string) => add(log.errors, `${kind}: ${fault}`),
    read(kind: string, tag: string, status: number, text: string): BaseAnswer | undefined {
      if (status !== 200) {
        log.fail(kind, `${status} ${text.slice(0, 200).replace(/"requestId":"[^"]*"/, '')}`)
        return undefined
      }
      log.files[kind] = (log.files[kind] ?? 0) + 1
      const judged = judge(JSON.parse(text) as ScreenReply, tag, versions, log.base)
      for (const fault of judged.faults) add(log.wrong, `${kind}: ${fault}`)
      const known = log.pairs.get(judged.version)
      if (known !== undefined && known !== judged.number)
        add(log.wrong, `${judged.version} is ${known} and ${judged.number}`)
      else log.pairs.set(judged.version, judged.number)
      if (kind === 'file') seen.add(judged.number)
      return judged.base
    },
    /** Waits until a file was answered from this version. */
    async untilSeen(number: number): Promise<void> {
      for (const giveUpAt = Date.now() + 180_000; !seen.has(number) && Date.now() < giveUpAt; ) await sleep(20)
      if (!seen.has(number)) log.fail('file', `version ${number} is not served after three minutes`)
    },
    forget: (number: number) => seen.delete(number),
  }
  return log
}

/** A file of which half is sent now: the version it is screened with is chosen now, too. */
function startSlowly(url: string, key: string, csv: string) {
  const boundary = 'slow-drill'
  const head = `--${boundary}\r\ncontent-disposition: form-data; name="file"; filename="slow.csv"\r\n\r\n`
  const body = Buffer.from(`${head}${csv}\r\n--${boundary}--\r\n`)
  const sent = request(`${url}/v2/open-sanctions/file/${DATASET}`, {
    method: 'POST',
    headers: {
      'x-api-key': key,
      'content-type': `multipart/form-data; boundary=${boundary}`,
      'content-length': body.length,
    },
  })
  const answer = new Promise<{ status: number; text: string }>((resolve) => {
    sent.on('error', (error) => resolve({ status: 0, text: error.message }))
    sent.on('response', async (response) => {
      resolve({ status: response.statusCode ?? 0, text: await consumers.text(response) })
    })
  })
  const half = body.length >> 1
  sent.write(body.subarray(0, half))
  return {
    finish() {
      sent.end(body.subarray(half))
      return answer
    },
  }
}
