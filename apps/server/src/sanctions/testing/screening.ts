/** Sends files to a real server, for the tests of `POST /v2/open-sanctions/file/:dataset`. Only tests import this. */
import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import type { ScreenReply } from '@ostiary/contract'
import { eventually } from '@ostiary/testkit/eventually'
import { temporaryFolder } from '@ostiary/testkit/temporary-folder'
import { systemClock } from '../../platform/clock.ts'
import { createIds } from '../../platform/ids.ts'
import { createHarness } from '../../testing/harness.ts'
import { createDatasetFiles, createImporter, type ImportRequest } from '../index.ts'

export const HEADER = 'id,firstname,lastname,dob\n'
export const NOBODY = '1,Maria,Beispielfrau,1990-05-04\n'
export const SANCTIONS_KEY = { scopes: ['sanctions:run'] }

const BOUNDARY = 'x-boundary-of-the-tests'
export const FORM_TYPE = `multipart/form-data; boundary=${BOUNDARY}`

export interface Part {
  /** Name of the field. Default `file`. */
  field?: string
  /** Null for a part without a file name. Default `people.csv`. */
  name?: string | null
  type?: string
  content: string | Uint8Array
}

/** A form as browsers send it. */
export function form(...parts: readonly Part[]): Buffer {
  const pieces = parts.flatMap((part) => [openPart(part), Buffer.from(part.content), Buffer.from('\r\n')])
  return Buffer.concat([...pieces, CLOSE])
}

/** The beginning of a form, up to the content of its file. */
export function openPart({ field = 'file', name = 'people.csv', type = 'text/csv' }: Partial<Part> = {}): Buffer {
  const file = name === null ? '' : `; filename="${name}"`
  return Buffer.from(
    `--${BOUNDARY}\r\nContent-Disposition: form-data; name="${field}"${file}\r\nContent-Type: ${type}\r\n\r\n`,
  )
}
export const CLOSE = Buffer.from(`--${BOUNDARY}--\r\n`)

export interface Sending {
  dataset?: string
  query?: string
  key?: string
  headers?: Record<string, string>
}

export const urlOf = ({ dataset = 'demo', query = '' }: Sending = {}) => `/v2/open-sanctions/file/${dataset}${query}`

export type Screening = Awaited<ReturnType<typeof createScreening>>

/** A harness with a key for screening. Requests use it unless they set another one (`''` for no key). */
export async function createScreening(env: Record<string, string> = {}) {
  const harness = await createHarness({ SANCTIONS_THREADS: '2', ...env })
  const { key: ownKey } = await harness.tenantWithKey(SANCTIONS_KEY)
  const files = createDatasetFiles(harness.wire.config.sanctions.dir)
  const importer = createImporter({ files, clock: systemClock, ids: createIds(systemClock), keepVersions: 5 })
  const folder = temporaryFolder('invented')
  /** Sends a form unchanged. */
  const post = (body: string | Buffer | Readable, sending: Sending = {}) => {
    const { key = ownKey, headers } = sending
    return harness.inject({
      method: 'POST',
      url: urlOf(sending),
      headers: { 'content-type': FORM_TYPE, ...(key !== '' && { 'x-api-key': key }), ...headers },
      payload: body,
    })
  }
  /** Sends a file. */
  const send = (csv: string | Uint8Array, sending: Sending = {}) => post(form({ content: csv }), sending)
  return {
    ...harness,
    files,
    post,
    send,
    /** Sends a file and returns the answer, which must be 200. */
    async screen(csv: string | Uint8Array, sending?: Sending) {
      const response = await send(csv, sending)
      assert.equal(response.statusCode, 200, response.body)
      return response.json<ScreenReply>()
    },
    /** Starts to send a file. It resolves when the server has accepted the file and waits for its rows. */
    async begin(sending?: Sending) {
      const body = new Readable({ read() {} })
      body.push(Buffer.concat([openPart(), Buffer.from(HEADER)]))
      const answer = post(body, sending)
      await eventually(() => body.readableLength === 0, 'the form is being read')
      return {
        end(rows: string) {
          for (const piece of [Buffer.from(`${rows}\r\n`), CLOSE, null]) body.push(piece)
          return answer
        },
      }
    },
    /** Imports a list of invented people and puts it into service. */
    async importCsv(
      name: string,
      csv: string,
      { tenantId, ...more }: Partial<ImportRequest> & { tenantId?: string } = {},
    ) {
      const path = join(folder, `${name}.csv`)
      writeFileSync(path, csv)
      const dataset = { name, tenantId: tenantId ?? null }
      return (await importer.importList({ dataset, paths: [path], format: 'custom-csv', ...more })).version
    },
    /** Makes the server check for new versions at once instead of within two seconds. */
    async look() {
      await harness.wire.sanctions.library.start()
      await harness.wire.sanctions.library.stop()
    },
  }
}

/** Rows of people with distinct names who are on no list. */
export function strangers(count: number, from = 0): string {
  const word = (n: number) => [...String(n)].map((digit) => 'abdefgikmo'[Number(digit)]).join('')
  return Array.from(
    { length: count },
    (_, at) => `s${from + at},Hefr${word(from + at)},Drostal${word((from + at) * 7)},1987-0${1 + (at % 9)}-11\n`,
  ).join('')
}

/** A file of exactly this many bytes: people on no list, then spaces in a column that is skipped. */
export function fileOf(bytes: number): string {
  const rows = strangers(45_000)
  const head = `${HEADER.trimEnd()},note\n`
  const cut = rows.lastIndexOf('\n', bytes - head.length - 60)
  const start = `${head}${rows.slice(0, cut + 1)}last,Ana,Example,1990-05-04,`
  return start + 'x'.repeat(bytes - start.length)
}
