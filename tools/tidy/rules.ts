/**
 * The house rules a machine can check. Each takes the files and returns what breaks it; none reads the disk, so that
 * the test can plant violations.
 */
export interface SourceFile {
  /** Relative to the root, with forward slashes. */
  path: string
  text: string
}

export interface Violation {
  path: string
  line: number
  message: string
}

export const isTest = (path: string) => /\.test\.tsx?$/.test(path) || path.includes('/testing/')

export const SERVER = 'apps/server/src/'
/** The apps with a database. */
export const APPS = [SERVER, 'apps/key-holder/src/']

const CLOCK = /\bDate\.now\(|\bnew Date\(\)|\bMath\.random\(|\bperformance\.now\(/
/** Node's own sources of randomness, by their imported names. */
const RANDOM =
  /\bimport \{[^}]*\brandom(Bytes|UUID|Int|FillSync|Fill)\b[^}]*\} from 'node:crypto'|\bcrypto\.(randomUUID|getRandomValues)\(/
const ENVIRONMENT = /\bprocess\.env\b/

/** Time and randomness come from platform/ (clock, ids, random), settings from config.ts: only so can tests control them. */
export function checkSources(files: readonly SourceFile[]): Violation[] {
  const product = files.filter(({ path }) => /^(apps|packages)\//.test(path) && !isTest(path))
  return product.flatMap((file) => {
    const mayReadTime =
      APPS.some((app) => file.path.startsWith(`${app}platform/`)) ||
      /^packages\/(sdk|device)\/src\/clock\.ts$/.test(file.path)
    const mayReadEnvironment = /\/(main(-[a-z]+)?|start)\.ts$/.test(file.path)
    return file.text.split('\n').flatMap((text, index) => {
      const at = { path: file.path, line: index + 1 }
      if (CLOCK.test(text) && !mayReadTime)
        return [{ ...at, message: 'time and randomness come from the clock and the ids of platform/' }]
      if (RANDOM.test(text) && file.path.startsWith(SERVER) && !mayReadTime)
        return [{ ...at, message: 'time and randomness come from the clock and the ids of platform/' }]
      if (ENVIRONMENT.test(text) && !mayReadEnvironment)
        return [
          { ...at, message: 'settings come from config.ts, the environment is read in main-*.ts and start.ts only' },
        ]
      return []
    })
  })
}

/** Every error code is documented, and the document names no other. */
export function checkErrorDocs(codes: readonly string[], document: SourceFile): Violation[] {
  const named = [...document.text.matchAll(/^\| `([A-Z_]+)` \|/gm)].map((match) => match[1] ?? '')
  const missing = codes.filter((code) => !named.includes(code)).map((code) => `does not name the error code ${code}`)
  const unknown = named
    .filter((code) => !codes.includes(code))
    .map((code) => `names ${code}, which no code of ours answers with`)
  return [...missing, ...unknown].map((message) => ({ path: document.path, line: 1, message }))
}

/** Statement names are unique in an app, because a connection keeps one plan per name. */
export function checkStatementNames(files: readonly SourceFile[]): Violation[] {
  return APPS.flatMap((app) => checkStatementNamesOf(files.filter(({ path }) => path.startsWith(app) && !isTest(path))))
}

function checkStatementNamesOf(files: readonly SourceFile[]): Violation[] {
  const seen = new Map<string, string>()
  return files.flatMap((file) =>
    [...file.text.matchAll(/\b(?:sql|dayStatement)\(\s*'([^']+)'/g)].flatMap((match) => {
      const name = match[1] ?? ''
      const earlier = seen.get(name)
      seen.set(name, file.path)
      return earlier
        ? [
            {
              path: file.path,
              line: file.text.slice(0, match.index).split('\n').length,
              message: `the statement name ${name} is also used in ${earlier}`,
            },
          ]
        : []
    }),
  )
}
