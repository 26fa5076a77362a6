/** Reads TypeScript with rolldown's parser, which Vite brings along: tidy needs no parser of its own. */
import { parseAst } from 'rolldown/parseAst'
import type { SourceFile, Violation } from './rules.ts'

/** A node of the syntax tree: its type, its place in the text, and whatever else the type has. */
export interface Node {
  type: string
  start: number
  end: number
  [member: string]: unknown
}

const parsed = new WeakMap<SourceFile, Node>()

/** The syntax tree of a file. Several rules read each file, so it is parsed once. */
export function parse(file: SourceFile): Node {
  const known = parsed.get(file)
  if (known) return known
  const { path, text } = file
  const tree = parseAst(text, { lang: path.endsWith('x') ? 'tsx' : 'ts' }, path) as unknown as Node
  parsed.set(file, tree)
  return tree
}

/** The nodes directly below this one. */
export function childrenOf(node: Node): Node[] {
  return Object.values(node).flatMap((value) => (Array.isArray(value) ? value : [value]).filter(isNode))
}

export function isNode(value: unknown): value is Node {
  return typeof value === 'object' && value !== null && typeof (value as Node).type === 'string'
}

/** Every node of the tree, this one first. */
export function* walk(node: Node): Generator<Node> {
  yield node
  for (const child of childrenOf(node)) yield* walk(child)
}

/** The number of the line in which an offset stands. */
export const lineAt = (text: string, offset: number) => text.slice(0, offset).split('\n').length

/** What a rule says of some nodes of a file. */
export function violationsAt(file: SourceFile, nodes: readonly Node[], say: (node: Node) => string): Violation[] {
  return nodes.map((node) => ({ path: file.path, line: lineAt(file.text, node.start), message: say(node) }))
}
