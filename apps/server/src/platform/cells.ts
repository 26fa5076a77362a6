import { BUCKET_COUNT } from '@ostiary/crypto'
import type { DatabaseUrls } from '@ostiary/service-kit/login'
import type { Db } from './db.ts'
import { bucketOf } from './ids.ts'

/**
 * A cell is one PostgreSQL database that holds everything of its tenants. 1,024 fixed buckets map to cells; a tenant's
 * bucket never changes, the cell of a bucket may. No query or transaction crosses cells (decision 0003).
 */
export interface Cell {
  name: string
  db: Db
}

export interface Cells {
  /** Its cell, and there the share of connections of the bucket. It is the unit of shares, because every id tells it and few tenants have the same. */
  forBucket(bucket: number): Db
  /** The same for a tenant, or for any other id that carries a bucket. */
  forId(id: string): Db
  all(): readonly Cell[]
  close(): Promise<void>
}

/** The parsed cell map: which database URL serves which bucket. */
export interface CellMap {
  urls: ReadonlyMap<string, string>
  /** PostgreSQL itself, for cells whose URL leads to a pooler. */
  directUrls: ReadonlyMap<string, string>
  cellOfBucket: readonly string[]
}

/** The URLs of one cell. */
export function urlsOf({ urls, directUrls }: CellMap, name: string): DatabaseUrls | undefined {
  const url = urls.get(name)
  return url === undefined ? undefined : { url, directUrl: directUrls.get(name) }
}

export function singleCell(url: string, directUrl?: string): CellMap {
  return {
    urls: new Map([['main', url]]),
    directUrls: new Map(directUrl === undefined ? [] : [['main', directUrl]]),
    cellOfBucket: Array.from({ length: BUCKET_COUNT }, () => 'main'),
  }
}

/**
 * Reads `{ "cells": { "a": "postgres://…", "b": "…" }, "buckets": { "0-511": "a", "512-1023": "b" } }`.
 * Throws with every problem at once: a bucket without a cell would make its tenants unreachable.
 */
export function parseCellMap(text: string): CellMap {
  const problems: string[] = []
  const { cells = {}, buckets = {} } = parseJson(text)
  const cellOfBucket: string[] = Array.from({ length: BUCKET_COUNT }, () => '')
  for (const [range, cell] of Object.entries(buckets)) {
    const match = /^(\d{1,4})(?:-(\d{1,4}))?$/.exec(range)
    const from = Number(match?.[1])
    const to = Number(match?.[2] ?? match?.[1])
    if (!match || to < from || to >= BUCKET_COUNT)
      problems.push(`"${range}" is no range of buckets 0 to ${BUCKET_COUNT - 1}`)
    else if (!Object.hasOwn(cells, cell)) problems.push(`buckets ${range} name the unknown cell "${cell}"`)
    else {
      for (let bucket = from; bucket <= to; bucket++) {
        if (cellOfBucket[bucket]) problems.push(`bucket ${bucket} is listed twice`)
        cellOfBucket[bucket] = cell
      }
    }
  }
  const missing = cellOfBucket.filter((cell) => cell === '').length
  if (problems.length === 0 && missing > 0) problems.push(`${missing} buckets have no cell`)
  const urls = new Map<string, string>()
  const directUrls = new Map<string, string>()
  for (const [name, cell] of Object.entries(cells)) {
    const { url, directUrl } = typeof cell === 'string' ? { url: cell } : cell
    if (!isPostgresUrl(url)) problems.push(`cell "${name}" has no PostgreSQL URL`)
    else urls.set(name, url)
    if (directUrl === undefined) continue
    if (!isPostgresUrl(directUrl)) problems.push(`the directUrl of cell "${name}" is no PostgreSQL URL`)
    else directUrls.set(name, directUrl)
  }
  if (problems.length > 0) throw new Error(problems.join('; '))
  return { urls, directUrls, cellOfBucket }
}

function isPostgresUrl(url: unknown): url is string {
  return typeof url === 'string' && /^postgres(ql)?:\/\//.test(url)
}

interface CellFile {
  cells?: Record<string, string | { url?: string; directUrl?: string }>
  buckets?: Record<string, string>
}

function parseJson(text: string): CellFile {
  try {
    return JSON.parse(text)
  } catch {
    // The parser's own message quotes the text, which contains passwords.
    throw new Error('is not valid JSON')
  }
}

export function createCells(map: CellMap, open: (name: string, url: string, directUrl?: string) => Db): Cells {
  const dbs = new Map([...map.urls].map(([name, url]) => [name, open(name, url, map.directUrls.get(name))]))
  const byBucket = map.cellOfBucket.map((name) => {
    const db = dbs.get(name)
    if (!db) throw new Error(`No cell ${name}`)
    return db
  })
  const shares = new Map<number, Db>()
  const forBucket = (bucket: number): Db => {
    const known = shares.get(bucket)
    if (known) return known
    const db = byBucket[bucket]
    if (!db) throw new RangeError(`No such bucket: ${bucket}`)
    const share = db.forOwner(`bucket ${bucket}`)
    shares.set(bucket, share)
    return share
  }
  return {
    forBucket,
    forId: (id) => forBucket(bucketOf(id)),
    all: () => [...dbs].map(([name, db]) => ({ name, db })),
    async close() {
      await Promise.all([...dbs.values()].map((db) => db.close()))
    },
  }
}
