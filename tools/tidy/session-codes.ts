import { type Node, parse, violationsAt, walk } from './ast.ts'
import { isTest, type SourceFile, type Violation } from './rules.ts'

/** Product code that deals with sessions. `faces` and `crypto` do not, and the contract is where the numbers live. */
const PRODUCT = /^(?:apps\/[^/]+|packages\/(?:device|sdk))\/src\//

/** Files with numbers that are equal to session codes and mean something else. */
const OTHER_NUMBERS: Readonly<Record<string, string>> = {
  'apps/server/src/passkeys/options.ts': 'COSE algorithms',
  'packages/device/src/simulated/person.ts': 'degrees that a head turns',
}

/** Methods whose negative arguments count from the end of a list. */
const FROM_THE_END = ['at', 'slice', 'subarray']
const LISTS_OF_CODES = ['codes', 'errors', 'errorCodes']

/**
 * A session code is written by its name (`codes.CAMERA_FAIL`, `SESSION_CODES.SPOOF.code`), never as its number. A negative number
 * that is a code is refused wherever it stands. The positive codes are ordinary numbers elsewhere: they are refused in lists named
 * `codes`, `errors` or `errorCodes`, and in what such a list is asked to include.
 * The rule does not see a number that the program computes, nor a positive one under another name.
 */
export function checkSessionCodes(files: readonly SourceFile[], codes: readonly number[]): Violation[] {
  return files
    .filter(({ path }) => PRODUCT.test(path) && !isTest(path) && OTHER_NUMBERS[path] === undefined)
    .flatMap((file) => {
      const nodes = [...walk(parse(file))]
      const fromTheEnd = new Set(
        nodes.flatMap((node) => (FROM_THE_END.includes(methodOf(node)) ? argumentsOf(node) : [])),
      )
      const negative = nodes.filter((node) => isNegative(node) && !fromTheEnd.has(node))
      const found = [...negative, ...nodes.flatMap(listedIn)].filter((node) =>
        codes.includes(numberOf(node) ?? Number.NaN),
      )
      const say = (node: Node) =>
        `${numberOf(node)} is the number of a session code: use its name from @ostiary/contract/codes`
      return violationsAt(file, found, say)
    })
}

/** The elements of a list of codes, and what such a list is asked to include; without what is negative. */
function listedIn(node: Node): Node[] {
  const { type, key, id, value, init } = node
  const found =
    type === 'Property' && isListName(key)
      ? elementsOf(value)
      : type === 'VariableDeclarator' && isListName(id)
        ? elementsOf(init)
        : methodOf(node) === 'includes' && isListName(lastOf((node.callee as Node).object))
          ? argumentsOf(node)
          : []
  return found.filter((element) => !isNegative(element))
}

const isNegative = ({ type, operator }: Node): boolean => type === 'UnaryExpression' && operator === '-'

function numberOf(node: Node): number | undefined {
  if (isNegative(node)) {
    const value = numberOf(node.argument as Node)
    return value === undefined ? undefined : -value
  }
  return node.type === 'Literal' && typeof node.value === 'number' ? node.value : undefined
}

/** The name of the method that is called, or an empty text. */
function methodOf({ type, callee }: Node): string {
  if (type !== 'CallExpression') return ''
  const { type: kind, property } = callee as Node
  return kind === 'MemberExpression' ? String((property as Node).name ?? '') : ''
}

const argumentsOf = (call: Node): Node[] => call.arguments as Node[]
const isListName = (node: unknown): boolean => LISTS_OF_CODES.includes(String((node as Node | null)?.name ?? ''))
/** `c` of `a.b.c`. */
const lastOf = (node: unknown): unknown => (node as Node).property ?? node

function elementsOf(node: unknown): Node[] {
  const { type, elements, expression } = (node ?? { type: '' }) as Node
  if (type === 'ArrayExpression') return (elements as (Node | null)[]).filter((element) => element !== null)
  return type === 'TSAsExpression' || type === 'TSSatisfiesExpression' ? elementsOf(expression) : []
}
