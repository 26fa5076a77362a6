/** Parses the sources file: which lists are refreshed, from where and how often. */

import { isAbsolute } from 'node:path'
import Type from 'typebox'
import { Compile } from 'typebox/compile'
import { DAY_MS } from '../../platform/clock.ts'
import { LIST_FORMATS, type ListFormat } from '../lists/read-list.ts'
import { datasetNameProblem, LIST_KINDS, type ListKind } from './known.ts'
import { publishedList } from './published.ts'

export interface FromFolder {
  folder: string
  /** All files of the folder when it is undefined. */
  files?: readonly string[] | undefined
  /** The files are those that have the publisher's names (published.ts). */
  published?: true | undefined
}

export interface RefreshSource {
  dataset: string
  everyMs: number
  format: ListFormat | undefined
  title: string | undefined
  licence: string | undefined
  kind: ListKind | undefined
  from: FromFolder | { urls: readonly string[] }
}

const UNIT_MS = { m: 60_000, h: 3_600_000, d: DAY_MS } as const
const EVERY_MIN_MS = 5 * UNIT_MS.m

const text = Type.Optional(Type.String({ minLength: 1, maxLength: 200 }))
const FILE_NAME = '^[A-Za-z0-9_][A-Za-z0-9._-]{0,127}$'
const oneOf = (values: readonly string[]) => Type.Optional(Type.Union(values.map((value) => Type.Literal(value))))
const Sources = Type.Array(
  Type.Object(
    {
      dataset: Type.String(),
      every: Type.String({ pattern: '^[1-9][0-9]{0,3}[mhd]$' }),
      format: oneOf(LIST_FORMATS),
      title: text,
      licence: text,
      kind: oneOf(LIST_KINDS),
      from: Type.Union([
        Type.Object(
          {
            folder: Type.String({ minLength: 1 }),
            files: Type.Optional(Type.Array(Type.String({ pattern: FILE_NAME }), { minItems: 1 })),
            published: Type.Optional(Type.Literal(true)),
          },
          { additionalProperties: false },
        ),
        Type.Object(
          { urls: Type.Array(Type.String({ pattern: '^https://' }), { minItems: 1, maxItems: 16 }) },
          { additionalProperties: false },
        ),
      ]),
    },
    { additionalProperties: false },
  ),
)
const check = Compile(Sources)

/** Fails on the first error: a list that silently becomes outdated is worse than an error in the log. */
export function parseSources(json: string): RefreshSource[] {
  const parsed = parseJson(json)
  if (!check.Check(parsed)) {
    const [error] = check.Errors(parsed)
    throw new Error(
      `The file of sources is not valid${error ? ` at ${error.instancePath || '/'}: ${error.message}` : ''}`,
    )
  }
  const sources = parsed.map(readSource)
  const names = sources.map(({ dataset }) => dataset)
  const twice = names.find((name, at) => names.indexOf(name) !== at)
  if (twice !== undefined) throw new Error(`The file of sources names ${twice} twice`)
  return sources
}

function readSource({ dataset, every, from, ...rest }: Type.Static<typeof Sources>[number]): RefreshSource {
  const fail = (problem: string) => new Error(`The source of ${dataset}: ${problem}`)
  const problem = datasetNameProblem({ name: dataset, tenantId: null })
  if (problem) throw fail(problem)
  const everyMs = Number(every.slice(0, -1)) * UNIT_MS[every.slice(-1) as keyof typeof UNIT_MS]
  if (everyMs < EVERY_MIN_MS) throw fail('"every" must be 5m or more')
  if ('folder' in from && !isAbsolute(from.folder)) throw fail('the folder must be an absolute path')
  if ('folder' in from && from.published && (from.files || !publishedList(dataset)))
    throw fail('"published" is for public lists, and goes without "files"')
  if ('urls' in from) {
    const names = from.urls.map(fileNameOf)
    if (names.some((name, at) => name === null || names.indexOf(name) !== at))
      throw fail('each URL must end in a file name of its own')
  }
  return {
    dataset,
    everyMs,
    format: rest.format as ListFormat | undefined,
    kind: rest.kind as ListKind | undefined,
    title: rest.title,
    licence: rest.licence,
    from: 'folder' in from ? { folder: from.folder, files: from.files, published: from.published } : from,
  }
}

/** The file name of a URL. The parts of OFAC's list are recognised by their file names. */
export function fileNameOf(url: string): string | null {
  if (!URL.canParse(url)) return null
  const name = new URL(url).pathname.split('/').at(-1) ?? ''
  return new RegExp(FILE_NAME).test(name) ? name : null
}

function parseJson(json: string): unknown {
  try {
    return JSON.parse(json)
  } catch {
    throw new Error('The file of sources is not JSON')
  }
}
