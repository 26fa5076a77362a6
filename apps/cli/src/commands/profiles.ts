import { answer, argument, type Command, UsageError } from '../command.ts'
import { CONNECTION_OPTIONS, CONNECTION_USAGE, whereTo } from '../connection.ts'
import { isLive, masked, readProfiles, writeProfiles } from '../profiles.ts'
import { table } from '../terminal.ts'

export const profileCommands: readonly Command[] = [
  {
    name: 'profiles list',
    usage: 'ostiary profiles list [--json]',
    async run(invocation) {
      const { current, profiles } = readProfiles(invocation.env)
      const found = Object.entries(profiles).map(([name, { url, key }]) => ({
        name,
        url,
        key: masked(key),
        livemode: isLive(key),
        inUse: name === current,
      }))
      const rows = found.map((one) => [
        one.inUse ? '*' : '',
        one.name,
        one.url,
        one.livemode ? 'live' : 'test',
        one.key,
      ])
      const shown =
        rows.length === 0
          ? 'There is no profile. Make one: ostiary login'
          : table(['', 'NAME', 'URL', 'MODE', 'KEY'], rows)
      return answer(invocation, found, shown)
    },
  },
  {
    name: 'profiles use',
    usage: 'ostiary profiles use <name> [--json]',
    async run(invocation) {
      const name = argument(invocation, 'profile')
      const stored = readProfiles(invocation.env)
      const profile = stored.profiles[name]
      if (!profile) throw new UsageError(`There is no profile "${name}". Make it: ostiary login --profile ${name}`)
      writeProfiles(invocation.env, { ...stored, current: name })
      return answer(invocation, { current: name, url: profile.url }, `In use: ${name}, ${profile.url}`)
    },
  },
  {
    name: 'profiles show',
    usage: `ostiary profiles show [--url <address>] [--key <key>] [--profile <name>] [--json]

Shows which service and key a command would use now, and where each comes from. Nothing is called.
${CONNECTION_USAGE}`,
    options: CONNECTION_OPTIONS,
    async run(invocation) {
      const { url, key, from } = whereTo(invocation)
      const shownKey = key === undefined ? 'none' : `${masked(key)} (${isLive(key) ? 'live' : 'test'}, ${from.key})`
      const facts = { url, urlFrom: from.url, key: key === undefined ? null : masked(key), keyFrom: from.key }
      const livemode = key === undefined ? null : isLive(key)
      return answer(invocation, { ...facts, livemode }, `service  ${url} (${from.url})\nkey      ${shownKey}`)
    },
  },
]
