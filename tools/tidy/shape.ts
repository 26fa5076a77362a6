/** Rules about the shape of code that need its syntax tree. */
import { childrenOf, type Node, parse, violationsAt, walk } from './ast.ts'
import { APPS, isTest, SERVER, type SourceFile, type Violation } from './rules.ts'

const MAX_FUNCTION_LINES = 60
/** A factory that declares its parts and returns them. */
const MAX_FACTORY_LINES = 80
/** Left as they are, with the reason. */
const LONG_FOR_A_REASON: Readonly<Record<string, string>> = {
  'apps/server/src/sanctions/engine/search.ts':
    'one search over typed arrays that its parts share; a property test compares it with comparing all names',
}
const FUNCTIONS = ['FunctionDeclaration', 'FunctionExpression', 'ArrowFunctionExpression']
const isFunction = (node: Node) => FUNCTIONS.includes(node.type)

/**
 * A function has at most 60 lines of its own. The functions that it only puts together (the closures of a `createX`) count by
 * themselves, so that composition may be long and a decision may not.
 */
export function checkFunctions(files: readonly SourceFile[]): Violation[] {
  return files
    .filter(({ path }) => isProduct(path) && !(path in LONG_FOR_A_REASON))
    .flatMap((file) => {
      const linesOf = ({ start, end }: Node) => file.text.slice(start, end).split('\n').length
      return [...walk(parse(file))].filter(isFunction).flatMap((node) => {
        const lines = ownLines(node, linesOf)
        const limit = isFactory(node) ? MAX_FACTORY_LINES : MAX_FUNCTION_LINES
        if (lines <= limit) return []
        const message = `a function of ${lines} lines, without those inside it; ${limit} are the limit`
        return violationsAt(file, [node], () => message)
      })
    })
}

const isFactory = (node: Node) => /^create[A-Z]/.test(String((node.id as Node | null)?.name ?? ''))

function ownLines(node: Node, linesOf: (node: Node) => number): number {
  const inner = innermostOf(node).map((one) => Math.max(0, linesOf(one) - 1))
  return linesOf(node) - inner.reduce((sum, lines) => sum + lines, 0)
}

/** The functions inside this one that stand in no other function inside it. */
function innermostOf(node: Node): Node[] {
  return childrenOf(node).flatMap((child) => (isFunction(child) ? [child] : innermostOf(child)))
}

const STATEMENT =
  /^\s*(--.*\n\s*)*(select\s|insert\s+into\s|update\s+\w+\s+(as\s+\w+\s+)?set\s|delete\s+from\s|with\s+\w+\s+as\s|create\s+(table|index|unique)\s|alter\s+(table|index)\s|drop\s+(table|index)\s|truncate\s|vacuum\s)/i

/** SQL stands in the stores of the rooms and in platform/, where the reader looks for it and a room owns its tables. */
export function checkSql(files: readonly SourceFile[]): Violation[] {
  return files
    .filter(({ path }) => APPS.some((app) => path.startsWith(app)) && isProduct(path) && !maySpeakSql(path))
    .flatMap((file) => {
      const statements = [...walk(parse(file))].filter(isStatement)
      return violationsAt(file, statements, () => 'SQL stands in store.ts (or *-store.ts) and in platform/ only')
    })
}

const maySpeakSql = (path: string) =>
  /(\/|-)store\.ts$/.test(path) || APPS.some((app) => path.startsWith(`${app}platform/`))

function isStatement(node: Node): boolean {
  if (node.type === 'Literal') return typeof node.value === 'string' && STATEMENT.test(node.value)
  if (node.type !== 'TemplateLiteral') return false
  const [first] = node.quasis as readonly { value: { raw: string } }[]
  return STATEMENT.test(first?.value.raw ?? '')
}

const MAX_FLOW_MEMBERS = 8
const FLOW = `${SERVER}sessions/flow.ts`

/** What `launch` asks of an area stays narrow: a wide port is two rooms that know each other too well. */
export function checkFlow(files: readonly SourceFile[]): Violation[] {
  const file = files.find(({ path }) => path === FLOW)
  if (!file) return []
  const flow = [...walk(parse(file))].find(
    (node) => node.type === 'TSInterfaceDeclaration' && (node.id as Node).name === 'Flow',
  )
  const members = flow ? ((flow.body as Node).body as readonly Node[]).length : 0
  if (flow && members <= MAX_FLOW_MEMBERS) return []
  return violationsAt(file, [flow ?? parse(file)], () =>
    flow
      ? `Flow has ${members} members; ${MAX_FLOW_MEMBERS} are the limit`
      : 'has no interface Flow: the rule about its size looks for it here',
  )
}

const AREA_SESSION = /^(Age|Verification|Flow)Session$/

/** A session of one area is never declared to be one of another: `sessions` gives each area its own type. */
export function checkSessionCasts(files: readonly SourceFile[]): Violation[] {
  return files
    .filter(({ path }) => path.startsWith(SERVER))
    .flatMap((file) => {
      const casts = [...walk(parse(file))].filter(
        (node) => node.type === 'TSAsExpression' && typeNames(node.typeAnnotation as Node).some(isAreaSession),
      )
      return violationsAt(file, casts, () => 'a cast to the session of an area: ask `sessions` for that area instead')
    })
}

const isAreaSession = (name: string) => AREA_SESSION.test(name)
const typeNames = (type: Node): string[] =>
  [...walk(type)].filter(({ type: kind }) => kind === 'Identifier').map(({ name }) => String(name))

/** dependency-cruiser does not look into types, so an import stands where it looks. */
export function checkTypeImports(files: readonly SourceFile[]): Violation[] {
  return files.flatMap((file) => {
    if (!/\bimport\(/.test(file.text)) return []
    const imports = [...walk(parse(file))].filter(
      ({ type, source }) => type === 'TSImportType' && /^(\.|@ostiary\/)/.test(String((source as Node).value)),
    )
    return violationsAt(file, imports, () => 'an import() inside a type: write `import type`, which the rules see')
  })
}

function isProduct(path: string): boolean {
  return /^(apps|packages)\//.test(path) && !isTest(path)
}
