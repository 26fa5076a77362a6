import { importsOf, resolve, type SourceFile, type Violation } from './rules.ts'

/**
 * No import circle, imports of types included: in a circle no file can be read, tested or moved without the others. Reports each
 * circle once, at its first file.
 */
export function checkCycles(files: readonly SourceFile[]): Violation[] {
  const known = new Set(files.map(({ path }) => path))
  const graph = new Map(
    files.map((file) => [
      file.path,
      importsOf(file)
        .filter(({ target }) => target.startsWith('.'))
        .map(({ target }) => resolve(file.path, target))
        .filter((path) => known.has(path)),
    ]),
  )
  return strongComponents(graph)
    .filter((component) => component.length > 1 || graph.get(component[0] ?? '')?.includes(component[0] ?? ''))
    .map((component) => {
      const [path = '', ...others] = component.sort()
      return { path, line: 1, message: `stands in an import circle with ${others.join(', ') || 'itself'}` }
    })
}

/** Tarjan's algorithm: the sets of files in which each reaches every other. */
function strongComponents(graph: ReadonlyMap<string, readonly string[]>): string[][] {
  const index = new Map<string, number>()
  const low = new Map<string, number>()
  const stack: string[] = []
  const components: string[][] = []
  const lowOf = (path: string) => low.get(path) ?? 0
  function visit(path: string): void {
    index.set(path, index.size)
    low.set(path, index.size - 1)
    stack.push(path)
    for (const next of graph.get(path) ?? []) {
      if (!index.has(next)) visit(next)
      if (stack.includes(next)) low.set(path, Math.min(lowOf(path), lowOf(next)))
    }
    if (lowOf(path) === index.get(path)) components.push(stack.splice(stack.indexOf(path)))
  }
  for (const path of graph.keys()) if (!index.has(path)) visit(path)
  return components
}
