import { mkdirSync, readFileSync, renameSync, statSync, writeFileSync } from 'node:fs'
import { homedir } from 'node:os'
import { dirname, join } from 'node:path'
import type { Environment } from '@ostiary/server/operate'

/** An address and its key, under a name. */
export interface Profile {
  url: string
  key: string
}

export interface Profiles {
  /** The one that commands use without --profile; null: none. */
  current: string | null
  profiles: Record<string, Profile>
}

export const DEFAULT_PROFILE = 'default'
const NAME = /^[a-z0-9][a-z0-9_-]{0,39}$/i

export const isProfileName = (name: string): boolean => NAME.test(name)

export function profilesFile(env: Environment): string {
  const base = env.XDG_CONFIG_HOME || join(env.HOME || homedir(), '.config')
  return join(base, 'ostiary', 'profiles.json')
}

export function readProfiles(env: Environment): Profiles {
  const file = profilesFile(env)
  let text: string
  try {
    text = readFileSync(file, 'utf8')
  } catch {
    return { current: null, profiles: {} }
  }
  assertOwn(dirname(file))
  try {
    const { current = null, profiles = {} } = JSON.parse(text) as Partial<Profiles>
    return { current, profiles }
  } catch {
    throw new Error(`${file} is not JSON. Remove it and log in again: ostiary login`)
  }
}

/** Nobody else may read it: it holds keys. Written aside and then renamed, so that a full disk leaves the old one. */
export function writeProfiles(env: Environment, profiles: Profiles): void {
  const file = profilesFile(env)
  mkdirSync(dirname(file), { recursive: true, mode: 0o700 })
  assertOwn(dirname(file))
  const next = `${file}.${process.pid}`
  writeFileSync(next, `${JSON.stringify(profiles, null, 2)}\n`, { mode: 0o600 })
  renameSync(next, file)
}

/** Whoever may write there could send the next key to an address of their own. Windows has no such modes. */
function assertOwn(folder: string): void {
  if (process.platform === 'win32' || (statSync(folder).mode & 0o022) === 0) return
  throw new Error(`Others may write to ${folder}, so what it says is not to be trusted: chmod go-w ${folder}`)
}

/** Enough to tell keys apart, and useless to anybody else. */
export function masked(key: string): string {
  return `${key.slice(0, 9)}…${key.slice(-4)}`
}

export const isLive = (key: string): boolean => key.startsWith('ost_live_')
