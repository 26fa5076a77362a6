/**
 * One forgotten condition is a look into another tenant's data. Every named statement that touches a table with `tenant_id` must
 * compare it with a tenant that the caller gives, or stand on a list with its reason. This reads text and no plans: of a statement over
 * several tables it sees that a tenant is named, not that it is named for each.
 */
import { isNode, type Node, parse, walk } from './ast.ts'
import { isTest, SERVER, type SourceFile, type Violation } from './rules.ts'

/** The tables whose definition in a migration has a column `tenant_id`. */
export function tenantTables(migrations: readonly SourceFile[]): string[] {
  const tables = migrations.flatMap(({ text }) =>
    [...text.matchAll(/^create table (\w+) \(\n([\s\S]*?)^\)/gm)].flatMap(([, name = '', columns = '']) =>
      /^\s*tenant_id\b/m.test(columns) ? [name] : [],
    ),
  )
  const renamed = migrations.flatMap(({ text }) =>
    [...text.matchAll(/^alter table (\w+) rename to (\w+)/gm)].flatMap(([, from = '', to = '']) =>
      tables.includes(from) ? [to] : [],
    ),
  )
  return [...new Set([...tables, ...renamed])]
}

/** `across` has the statements that may serve all tenants, each with its reason. */
export function checkTenants(
  files: readonly SourceFile[],
  tables: readonly string[],
  across: Readonly<Record<string, string>>,
): Violation[] {
  const touches = new RegExp(`\\b(?:from|join|into|update|using)\\s+(?:only\\s+)?(?:${tables.join('|')})\\b`, 'i')
  const unused = new Set(Object.keys(across))
  const found = files
    .filter(({ path }) => path.startsWith(SERVER) && !isTest(path))
    .flatMap((file) =>
      statementsOf(file).flatMap(({ name, text, start }): Violation[] => {
        if (!touches.test(text) || namesTenant(text)) return []
        if (unused.delete(name) || Object.hasOwn(across, name)) return []
        const line = file.text.slice(0, start).split('\n').length
        return [{ path: file.path, line, message: `the statement ${name} touches tenants’ rows and names no tenant` }]
      }),
    )
  const stale = [...unused].map((name) => ({
    path: 'tools/tidy/across-tenants.ts',
    line: 1,
    message: `lists the statement ${name}, which needs no exception`,
  }))
  return [...found, ...stale]
}

/** A comparison with a parameter, with rows that were given as arrays, or the tenant of a row that is inserted. */
function namesTenant(text: string): boolean {
  const given = /\btenant_id\s*(?:=|<>)\s*(?:any\s*\(\s*)?\$\d|\$\d(?:::uuid)?\s*=\s*(?:\w+\.)?tenant_id\b/i
  const inserted = /\binsert into\s+\w+(?:\s+as\s+\w+)?\s*\(\s*[^)]*\btenant_id\b/i
  const rows = /\(\s*(?:\w+\.)?tenant_id\b[^)]*\)\s*(?:=|in)\s*\(|\btenant_id\s*=\s*\w+\.tenant_id\b/i
  return given.test(text) || inserted.test(text) || (/\bunnest\s*\(\s*\$\d/i.test(text) && rows.test(text))
}

interface StatementText {
  name: string
  text: string
  start: number
}

/** The functions that make a statement of a name and a text. */
const MAKERS: readonly string[] = ['sql', 'dayStatement']

function statementsOf(file: SourceFile): StatementText[] {
  if (!/\b(?:sql|dayStatement)\(/.test(file.text)) return []
  const tree = parse(file)
  const declared = declarationsOf(tree)
  return [...walk(tree)].flatMap((node) => {
    const [name, text] = argumentsOf(node)
    const isCall = node.type === 'CallExpression' && MAKERS.includes(nameOf(node.callee) ?? '')
    const isStatement = isCall && name?.type === 'Literal'
    // An unnamed statement is known by its file.
    return isStatement && text
      ? [{ name: String(name.value) || file.path, text: textOf(text, declared), start: node.start }]
      : []
  })
}

/** All text that a statement can consist of: its own, and that of the constants and functions of this file that it names. */
function textOf(node: Node, declared: ReadonlyMap<string, Node>, seen: ReadonlySet<string> = new Set()): string {
  return [...walk(node)]
    .map((one) => {
      if (one.type === 'Literal' && typeof one.value === 'string') return one.value
      if (one.type === 'TemplateElement') return cookedOf(one)
      const name = one.type === 'Identifier' ? nameOf(one) : undefined
      const declaration = name === undefined || seen.has(name) ? undefined : declared.get(name)
      return name !== undefined && declaration ? textOf(declaration, declared, new Set([...seen, name])) : ''
    })
    .join(' ')
}

function declarationsOf(tree: Node): Map<string, Node> {
  const declared = new Map<string, Node>()
  for (const node of walk(tree)) {
    const name = nameOf(node.id)
    if (name === undefined) continue
    if (node.type === 'FunctionDeclaration') declared.set(name, node)
    if (node.type === 'VariableDeclarator' && isNode(node.init)) declared.set(name, node.init)
  }
  return declared
}

function argumentsOf(node: Node): Node[] {
  return Array.isArray(node.arguments) ? node.arguments.filter(isNode) : []
}

function nameOf(node: unknown): string | undefined {
  return isNode(node) && node.type === 'Identifier' && typeof node.name === 'string' ? node.name : undefined
}

function cookedOf({ value }: Node): string {
  return typeof value === 'object' && value !== null && 'cooked' in value ? String(value.cooked) : ''
}
