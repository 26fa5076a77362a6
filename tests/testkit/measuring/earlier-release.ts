import { execFileSync, spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, readdirSync, readlinkSync, rmSync, symlinkSync } from 'node:fs'
import { ROOT } from '../run.ts'

/** The last commit before decisions 0051 to 0058: measures compare with it. */
export const LAST_RELEASE = '2c2df21'
/** The flags of Node that its API is started with. */
export const LAST_API_FLAGS = ['--max-semi-space-size=8']

/** Whether this clone has the commit: one without history has not. */
export function hasCommit(commit: string): boolean {
  return spawnSync('git', ['-C', ROOT, 'cat-file', '-e', `${commit}^{commit}`], { stdio: 'ignore' }).status === 0
}

/**
 * The source of an earlier commit, to run its processes beside those of today. Returns its folder, from the root of the repository. It uses the
 * dependencies that are installed here, and its own packages.
 */
export function checkOut(commit: string): string {
  if (!/^[0-9a-f]{7,40}$/.test(commit)) throw new Error('A commit is named by 7 to 40 hexadecimal digits')
  const folder = `.reports/earlier/${commit}`
  const target = `${ROOT}${folder}`
  if (existsSync(`${target}/package.json`)) return folder
  rmSync(target, { recursive: true, force: true })
  mkdirSync(`${target}/node_modules/@ostiary`, { recursive: true })
  execFileSync('bash', [
    '-c',
    `set -o pipefail; git -C "$1" archive "$2" | tar -x -C "$3"`,
    'bash',
    ROOT,
    commit,
    target,
  ])
  for (const name of readdirSync(`${ROOT}node_modules`))
    if (name !== '@ostiary') symlinkSync(`${ROOT}node_modules/${name}`, `${target}/node_modules/${name}`)
  // Links to the packages of the repository are relative, so here they lead to those of the commit.
  for (const name of readdirSync(`${ROOT}node_modules/@ostiary`))
    symlinkSync(readlinkSync(`${ROOT}node_modules/@ostiary/${name}`), `${target}/node_modules/@ostiary/${name}`)
  if (existsSync(`${ROOT}.models`)) symlinkSync(`${ROOT}.models`, `${target}/.models`)
  return folder
}
