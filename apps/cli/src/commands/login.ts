import { createClient, OstiaryError } from '@ostiary/sdk'
import { answer, type Command, type Invocation, text, UsageError } from '../command.ts'
import { inWords, whereTo } from '../connection.ts'
import {
  DEFAULT_PROFILE,
  isLive,
  isProfileName,
  masked,
  profilesFile,
  readProfiles,
  writeProfiles,
} from '../profiles.ts'
import { ask, isAtTerminal, readPiped } from '../prompt.ts'
import { paint } from '../terminal.ts'

const PROFILE = { profile: { type: 'string' } } as const

export const loginCommands: readonly Command[] = [
  {
    name: 'login',
    usage: `ostiary login [--url <address>] [--profile <name>] [--json]

Asks for the address and an API key, checks them at the service, and stores them for the commands that talk to it. The
key is not shown, neither here nor later. From a script it comes from standard input, and --url is required:
  ostiary login --url https://ostiary.example --profile work < key.txt
The profile is "${DEFAULT_PROFILE}" unless --profile names another; it becomes the one in use. Stored, for you alone to read, in
$XDG_CONFIG_HOME/ostiary/profiles.json (~/.config/ostiary/profiles.json).`,
    options: { url: { type: 'string' }, ...PROFILE },
    asks: true,
    run: login,
  },
  {
    name: 'logout',
    usage: `ostiary logout [--profile <name>] [--json]

Forgets the address and the key of a profile: the one in use, unless --profile names another. The key itself goes on
working; "ostiary keys revoke" ends it.`,
    options: PROFILE,
    async run(invocation) {
      const stored = readProfiles(invocation.env)
      const name = text(invocation, 'profile') ?? stored.current
      if (name === null) throw new UsageError('You are not logged in')
      if (!stored.profiles[name]) throw new UsageError(`There is no profile "${name}"`)
      const { [name]: _forgotten, ...profiles } = stored.profiles
      const current = stored.current === name ? (Object.keys(profiles)[0] ?? null) : stored.current
      writeProfiles(invocation.env, { current, profiles })
      const next = current === null ? 'No profile is left' : `In use now: ${current}`
      return answer(invocation, { profile: name, removed: true, current }, `${name} is forgotten. ${next}`)
    },
  },
]

async function login(invocation: Invocation): Promise<number> {
  const { env } = invocation
  const name = text(invocation, 'profile') ?? (env.OSTIARY_PROFILE || DEFAULT_PROFILE)
  if (!isProfileName(name)) throw new UsageError('--profile must be a word of letters, digits, - and _')
  const url = (text(invocation, 'url') ?? (await askAddress(invocation))).replace(/\/+$/, '')
  if (!/^https?:\/\//.test(url) || !URL.canParse(url)) {
    throw new UsageError('The address must begin with http:// or https://')
  }
  warnOfPlainHttp(invocation, url)
  const key = isAtTerminal() ? await ask(`API key for ${url} (not shown): `, { hidden: true }) : await readPiped()
  if (key === '') throw new UsageError('No key: type one, or pipe one in')
  await check(url, key)
  const stored = readProfiles(env)
  writeProfiles(env, { current: name, profiles: { ...stored.profiles, [name]: { url, key } } })
  const mode = isLive(key) ? 'live' : 'test'
  const shown = `Logged in at ${url} with the ${mode} key ${masked(key)}. Profile ${name} in ${profilesFile(env)}`
  return answer(invocation, { profile: name, url, key: masked(key), livemode: isLive(key) }, shown)
}

/** Before the key is typed or sent. On this machine nobody is between. */
function warnOfPlainHttp({ terminal, options }: Invocation, url: string): void {
  const { protocol, hostname } = new URL(url)
  if (protocol === 'https:' || /^(localhost|127(\.\d+){3}|\[::1\])$/.test(hostname)) return
  const message = `${url} is not encrypted: whoever is on the way can read the key. Use https`
  terminal.err(options.json ? JSON.stringify({ warning: { message } }) : paint(terminal, 'yellow', message))
}

async function askAddress(invocation: Invocation): Promise<string> {
  if (!isAtTerminal()) throw new UsageError('--url is required where nobody can be asked')
  const { url } = whereTo({ ...invocation, options: {} })
  const typed = await ask(`Address [${url}]: `)
  return typed === '' ? url : typed
}

/** A key without the scope of the call is as good as any: the service knows it. */
async function check(url: string, apiKey: string): Promise<void> {
  const client = createKeyClient(url, apiKey)
  await client.strings.list({ limit: 1 }).catch((error: unknown) => {
    if (error instanceof OstiaryError && error.code === 'SCOPE_DENIED') return
    throw inWords(error, url)
  })
}

function createKeyClient(baseUrl: string, apiKey: string) {
  try {
    return createClient({ baseUrl, apiKey, maxRetries: 0 })
  } catch (error) {
    throw new UsageError((error as Error).message)
  }
}
