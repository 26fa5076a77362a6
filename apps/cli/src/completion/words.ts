import type { ListedCommand } from '../command.ts'

/** What a shell offers after some words. */
export interface Completions {
  /** The words that can follow, by the words before them. */
  next: ReadonlyMap<string, readonly string[]>
  /** The options of a command. */
  options: ReadonlyMap<string, readonly string[]>
  /** The values of an option, by "command --option"; an empty list stands for a file or free text. */
  values: ReadonlyMap<string, readonly string[]>
}

const SHARED = { json: { type: 'boolean' }, help: { type: 'boolean' } } as const

/** Loads every command: the script that is printed then knows them, and pressing Tab starts nothing. */
export async function readCompletions(commands: readonly ListedCommand[]): Promise<Completions> {
  const [next, options, values] = [
    new Map<string, string[]>(),
    new Map<string, string[]>(),
    new Map<string, string[]>(),
  ]
  const offer = (path: string, word: string) => {
    const words = next.get(path) ?? []
    if (!words.includes(word)) next.set(path, [...words, word])
  }
  for (const entry of commands) {
    const words = entry.name.split(' ')
    for (const [at, word] of words.entries()) {
      offer(words.slice(0, at).join(' '), word)
      offer(['help', ...words.slice(0, at)].join(' '), word)
    }
    const command = await entry.load()
    for (const word of command.words ?? []) offer(entry.name, word)
    const all = Object.entries<{ type: 'string' | 'boolean' }>({ ...command.options, ...SHARED })
    options.set(
      entry.name,
      all.map(([name]) => `--${name}`),
    )
    for (const [name, { type }] of all) {
      if (type === 'string') values.set(`${entry.name} --${name}`, [...(command.values?.[name] ?? [])])
    }
  }
  offer('', 'help')
  offer('', 'version')
  return { next, options, values }
}
