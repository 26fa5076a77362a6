import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { eventually } from '@ostiary/testkit/eventually'
import { ROOT } from '@ostiary/testkit/root'
import { freePorts } from '@ostiary/testkit/run'

/** A language that customers use a client in, with the programs beside this file. */
export interface Language {
  name: 'Python' | 'PHP'
  /** The reason to skip its tests; false if it is here. */
  missing: string | false
  program(name: string): string[]
  receiver(port: number): string[]
  env: Record<string, string>
}

// Debian's own: another python3 on the PATH does not see Debian's packages.
export const PYTHON = '/usr/bin/python3'
const PHP = '/usr/bin/php'
const HERE = `${ROOT}tests/acceptance/clients/`
const missing = (program: string) => (existsSync(program) ? false : `${program} is not installed`)

export const python: Language = {
  name: 'Python',
  missing: missing(PYTHON),
  program: (name) => [PYTHON, `${HERE}${name}.py`],
  receiver: () => [PYTHON, `${HERE}receiver.py`],
  env: { PYTHONPATH: `${ROOT}clients/python/src`, PYTHONDONTWRITEBYTECODE: '1' },
}

export const php: Language = {
  name: 'PHP',
  missing: missing(PHP),
  program: (name) => [PHP, `${HERE}${name}.php`],
  receiver: (port) => [PHP, '-S', `127.0.0.1:${port}`, `${HERE}receiver.php`],
  env: {},
}

/** Runs a program. Only the environment variables named here reach it: no proxy of this machine stands between it and the system. */
export function run(
  [command = '', ...args]: readonly string[],
  env: Record<string, string>,
  input = '',
): Promise<string> {
  return new Promise((resolve, reject) => {
    const child = execFile(command, args, { env, timeout: 180_000 }, (error, stdout, stderr) =>
      error ? reject(new Error(`${error.message}\n${stdout}\n${stderr}`)) : resolve(stdout),
    )
    child.stdin?.end(input)
  })
}

export interface Receiver {
  url: string
  /** The lines that it printed so far: one for each request. */
  lines(): Record<string, unknown>[]
  stop(): Promise<void>
}

export async function startReceiver(language: Language, apiKeys: readonly string[]): Promise<Receiver> {
  const [port = 0] = await freePorts(1)
  const [command = '', ...args] = language.receiver(port)
  const env = { ...language.env, PORT: String(port), OSTIARY_API_KEYS: apiKeys.join(',') }
  const child: ChildProcess = spawn(command, args, { env, stdio: ['ignore', 'pipe', 'ignore'] })
  let printed = ''
  child.stdout?.on('data', (chunk) => {
    printed += chunk
  })
  const url = `http://127.0.0.1:${port}/hook`
  // The readiness probe has no signature, so the receiver refuses it: that is its first line.
  await eventually(
    () => fetch(url, { method: 'POST', body: '{}' }).catch(() => undefined),
    () => `${command} does not listen: exit code ${child.exitCode}`,
  )
  return {
    url,
    lines: () =>
      printed
        .split('\n')
        .slice(1, -1)
        .map((line) => JSON.parse(line)),
    async stop() {
      const exited = new Promise((resolve) => child.once('exit', resolve))
      if (child.exitCode === null && child.kill('SIGKILL')) await exited
    },
  }
}
