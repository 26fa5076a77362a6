import type { TextFiles } from './languages.ts'

/**
 * The build leaves the keys out of the texts, because they are the same in every language (vite.config.ts). This puts them back as the files are
 * loaded.
 */
export function named(files: TextFiles, keys: () => Promise<readonly string[]>): TextFiles {
  const entries = Object.entries(files).map(([path, load]): [string, () => Promise<unknown>] => [
    path,
    async () => {
      const [names, texts] = await Promise.all([keys(), load() as Promise<readonly unknown[]>])
      return Object.fromEntries(names.map((name, index) => [name, texts[index]]))
    },
  ])
  return Object.fromEntries(entries)
}
