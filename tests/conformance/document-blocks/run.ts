/** Runs the script of a document and says where it failed. */
import { spawn } from 'node:child_process'
import { chmodSync, copyFileSync, mkdirSync, readdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { COMPILED, ROOT } from '@ostiary/testkit/run'
import type { Installation } from './installation.ts'
import { PYTHON } from './parse.ts'

/** A document that takes so long hangs. */
const LIMIT_MS = 180_000

/** Errors name the document's own lines, because the script has its blocks where the document has them. */
const PRELUDE = `
set -eE -o pipefail
trap 'printf "\\n@@failed %s %s\\n" "$LINENO" "$?"' ERR
begin() { printf '\\n@@block %s\\n' "$1"; }
tools/bootstrap() { echo 'It has run'; }
npm() { if [ "$*" = 'run dev' ]; then echo 'It runs already'; else command npm "$@"; fi; }
# A process that keeps running has started when its port answers; one without a port gets a second.
until_started() {
  local tries
  for tries in $(seq 200); do
    kill -0 "$1" || { wait "$1"; return 1; }
    if [ -z "\${2:-}" ]; then sleep 1; return; fi
    if (exec 3<>"/dev/tcp/127.0.0.1/$2") 2>/dev/null; then return; fi
    sleep 0.1
  done
  echo "Nothing listens on port $2"; return 1
}
`

export interface Place {
  /** Where the programs of all documents stand. */
  blocks: string
  bin: string
  env: Record<string, string>
}

/** Commands as documents name them, and the environment that they speak of. */
export function preparePlace(folder: string, blocks: string, installation: Installation): Place {
  const bin = join(folder, 'bin')
  mkdirSync(bin)
  const command = (name: string, line: string) => {
    writeFileSync(join(bin, name), `#!/bin/sh\nexec ${line} "$@"\n`)
    chmodSync(join(bin, name), 0o755)
  }
  // An answer that is an error must not look like success.
  command('curl', '/usr/bin/curl -S --fail-with-body')
  command('ostiary', `${process.execPath} --env-file-if-exists=${ROOT}.dev/env ${ROOT}apps/cli/src/main.ts`)
  symlinkSync(process.execPath, join(bin, 'node'))
  symlinkSync(PYTHON, join(bin, 'python3'))
  const { env, url, apiKey } = installation
  return {
    blocks,
    bin,
    env: { ...definedOnly(process.env), ...COMPILED, ...env, OSTIARY_URL: url, OSTIARY_API_KEY: apiKey, KEY: apiKey },
  }
}

function definedOnly(env: NodeJS.ProcessEnv): Record<string, string> {
  return Object.fromEntries(Object.entries(env).filter((entry): entry is [string, string] => entry[1] !== undefined))
}

/**
 * A folder that looks like the clone. What a block writes at its top is not in the clone. It has no packages: `npm` would change
 * those of the clone, and programs of the clone find them without.
 */
export function likeTheClone(folder: string): string {
  mkdirSync(folder, { recursive: true })
  for (const entry of readdirSync(ROOT, { withFileTypes: true })) {
    const { name } = entry
    if (name === 'node_modules' || (name.startsWith('.') && name !== '.dev')) continue
    // Files are copied: npm would write through a link into the clone's own package.json.
    if (entry.isFile()) copyFileSync(join(ROOT, name), join(folder, name))
    else symlinkSync(join(ROOT, name), join(folder, name))
  }
  return folder
}

export interface Outcome {
  ok: boolean
  seconds: number
  /** The line that failed, or of the block that hung; 0 when not even one began. */
  line: number
  /** What was printed since the last block began. */
  output: string
}

export async function runScript(
  document: string,
  script: string,
  cwd: string,
  { blocks, bin, env }: Place,
): Promise<Outcome> {
  const began = Date.now()
  const file = join(blocks, `${document.replaceAll('/', '__')}.sh`)
  writeFileSync(file, script)
  const child = spawn('bash', ['-c', `${PRELUDE}. "$0"`, file], {
    cwd,
    env: { ...env, BLOCKS: blocks, PATH: `${bin}:${env.PATH}`, BASH_ENV: '' },
    stdio: ['ignore', 'pipe', 'pipe'],
    detached: true,
  })
  let output = ''
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (chunk) => {
      output += chunk
    })
  const timer = setTimeout(() => endGroup(child.pid, 'SIGKILL'), LIMIT_MS)
  const code = await new Promise<number | null>((resolve) => child.once('exit', resolve))
  clearTimeout(timer)
  endGroup(child.pid, 'SIGTERM')
  return { ok: code === 0, seconds: (Date.now() - began) / 1000, ...lastPart(output.replaceAll(file, document), code) }
}

/** Ends what a document left running. */
function endGroup(pid: number | undefined, signal: NodeJS.Signals): void {
  try {
    process.kill(-(pid ?? 0), signal)
  } catch {
    // Nothing was left.
  }
}

function lastPart(output: string, code: number | null): Pick<Outcome, 'line' | 'output'> {
  const parts = [...output.matchAll(/\n@@block (\d+)\n/g)]
  const last = parts.at(-1)
  const failed = [...output.matchAll(/\n@@failed (\d+) \d+\n/g)].at(0)
  const since = output.slice(last ? last.index + last[0].length : 0).replace(/\n@@failed .*\n/g, '\n')
  const ending = code === null ? `\nIt did not end within ${LIMIT_MS / 1000} s` : ''
  return { line: Number(failed?.[1] ?? last?.[1] ?? 0), output: `${since.trim()}${ending}` }
}
