/** Reads package-lock.json: which installed packages a workspace needs. */

export interface LockedPackage {
  name?: string
  version?: string
  integrity?: string
  link?: boolean
  resolved?: string
  dependencies?: Record<string, string>
  devDependencies?: Record<string, string>
  optionalDependencies?: Record<string, string>
  peerDependencies?: Record<string, string>
  peerDependenciesMeta?: Record<string, { optional?: boolean }>
}

/** By folder: `apps/server`, `node_modules/pg`. */
export type Lockfile = Readonly<Record<string, LockedPackage>>

export interface Reached {
  path: string
  /** Folders of the packages that this one needs. */
  needs: readonly string[]
}

/** With `dev` also what the workspaces need only to be built and tested. */
export interface ReachOptions {
  dev?: boolean
}

/** Everything that these workspaces need to run, themselves included, by folder. */
export function reach(
  lockfile: Lockfile,
  workspaces: readonly string[],
  { dev = false }: ReachOptions = {},
): Reached[] {
  const found = new Map<string, Reached>()
  const waiting = [...workspaces]
  for (let path = waiting.pop(); path !== undefined; path = waiting.pop()) {
    if (found.has(path)) continue
    const locked = lockfile[path]
    if (!locked) throw new Error(`package-lock.json has no ${path}`)
    const names = namesOf(locked, { dev: dev && workspaces.includes(path) })
    const needs = names.flatMap(({ name, required }) => {
      const target = resolve(lockfile, path, name)
      if (target === undefined && required)
        throw new Error(`package-lock.json does not say where ${path} finds ${name}`)
      return target ?? []
    })
    found.set(path, { path, needs: [...new Set(needs)].sort() })
    waiting.push(...needs)
  }
  return [...found.values()].sort((a, b) => (a.path < b.path ? -1 : 1))
}

function namesOf(locked: LockedPackage, { dev }: { dev: boolean }): { name: string; required: boolean }[] {
  const { dependencies, devDependencies, optionalDependencies, peerDependencies, peerDependenciesMeta } = locked
  const list = (names: Record<string, string> | undefined, isRequired: (name: string) => boolean) =>
    Object.keys(names ?? {}).map((name) => ({ name, required: isRequired(name) }))
  return [
    ...list(dependencies, () => true),
    ...(dev ? list(devDependencies, () => true) : []),
    ...list(optionalDependencies, () => false),
    ...list(peerDependencies, (name) => peerDependenciesMeta?.[name]?.optional !== true).filter(
      ({ required }) => required,
    ),
  ]
}

/** As Node looks for a package: in the folder's own node_modules, then in those above it. A workspace is a link to its folder. */
function resolve(lockfile: Lockfile, from: string, name: string): string | undefined {
  for (let folder = from; ; folder = parentOf(folder)) {
    const path = `${folder === '' ? '' : `${folder}/`}node_modules/${name}`
    const locked = lockfile[path]
    if (locked) return locked.link ? locked.resolved : path
    if (folder === '') return undefined
  }
}

function parentOf(folder: string): string {
  const at = folder.lastIndexOf('/')
  return at < 0 ? '' : folder.slice(0, at)
}
