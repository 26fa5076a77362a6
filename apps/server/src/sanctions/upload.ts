/** Reads the customer's file from a form while it arrives, and stops at the first error. */
import type { IncomingHttpHeaders } from 'node:http'
import { Readable } from 'node:stream'
import { Busboy, type BusboyHeaders, type BusboyInstance } from '@fastify/busboy'
import { SANCTIONS_LIMITS } from '@ostiary/contract'
import { AppError } from '../platform/errors.ts'
import { createPeopleReader } from './csv.ts'
import { createPackedPeople, type PackedPeople } from './packed-people.ts'

const { fileBytes, multipartBytes } = SANCTIONS_LIMITS

const SILENCE_MS = 1_000

/** The parser works through all that it is given before anything can stop it, and 64 KB may begin 13,000 parts: 200 ms. */
const PARSED_AT_ONCE_BYTES = 2_048

/** A request whose body is read here. Without a form there is no body. */
export interface Upload {
  headers: IncomingHttpHeaders
  body: unknown
}

const tooLarge = () => new AppError('too_large', 'FILE_TOO_LARGE', 'File too large')
const noFile = () => new AppError('invalid_request', 'NO_FILE', 'No file uploaded')
const broken = () => new AppError('invalid_request', 'BAD_REQUEST', 'The form cannot be read')

/**
 * The people in the form's file. Chunks are read one by one, so that an invalid file is refused without reading the rest. The
 * code that sends the answer decides whether to read or cut off the rest.
 */
export async function readUpload({ headers, body }: Upload): Promise<PackedPeople> {
  if (!(body instanceof Readable)) throw noFile()
  if (Number(headers['content-length']) > multipartBytes) throw tooLarge()
  const upload = openForm(headers)
  let received = 0
  for await (const chunk of body.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>) {
    received += chunk.length
    if (received > multipartBytes) throw tooLarge()
    for (let at = 0; at < chunk.length; at += PARSED_AT_ONCE_BYTES) {
      await upload.write(chunk.subarray(at, at + PARSED_AT_ONCE_BYTES))
    }
  }
  return upload.end()
}

function openForm(headers: IncomingHttpHeaders): { write(chunk: Buffer): Promise<void>; end(): Promise<PackedPeople> } {
  const people = createPackedPeople()
  const reader = createPeopleReader({ maxBytes: fileBytes, onPerson: people.push })
  let form: BusboyInstance
  let fault: Error | undefined
  let files = 0
  let isComplete = false
  const attempt = (work: () => void) => {
    if (fault) return
    try {
      work()
    } catch (error) {
      fault = error as Error
    }
  }
  try {
    form = new Busboy({
      headers: headers as BusboyHeaders,
      limits: {
        fieldNameSize: 100,
        fieldSize: 10_000,
        fields: 20,
        parts: 25,
        headerPairs: 20,
        fileSize: multipartBytes,
      },
    })
  } catch {
    throw broken()
  }
  form.on('file', (field, stream, name) => {
    attempt(() => {
      // A browser sends a part without a file name when no file was chosen.
      if (field !== 'file' || (name ?? '') === '') return
      if (++files > 1) throw new AppError('invalid_request', 'VALIDATION_FAILED', 'The form has more than one file')
      if (!/\.csv$/i.test(name ?? '')) {
        throw new AppError('invalid_request', 'NOT_A_CSV_FILE', 'Only CSV files are allowed!')
      }
    })
    const isOurs = field === 'file' && files === 1 && (name ?? '') !== ''
    stream.on('data', (chunk: Buffer) => isOurs && attempt(() => reader.write(chunk)))
    stream.on('end', () => {
      if (!isOurs) return
      attempt(() => {
        reader.end()
        isComplete = true
      })
    })
    stream.on('error', () => attempt(() => fail()))
  })
  const fail = () => {
    throw broken()
  }
  // Beyond its limit the parser goes on and only hides the parts. It also throws where nobody can catch it if the last one is cut off.
  form.on('partsLimit', () => attempt(fail))
  const finished = new Promise<void>((resolve) => {
    form.on('finish', () => resolve())
    form.on('error', () => {
      attempt(fail)
      resolve()
    })
  })
  /** The parser handles a chunk synchronously. On some broken forms it emits nothing, so the caller must not wait for an event. */
  async function soon(work: Promise<void>): Promise<void> {
    let timer: NodeJS.Timeout | undefined
    const silence = new Promise<void>((_resolve, reject) => {
      timer = setTimeout(() => reject(broken()), SILENCE_MS)
    })
    await Promise.race([work, finished, silence]).finally(() => clearTimeout(timer))
  }
  return {
    async write(chunk) {
      await soon(new Promise<void>((resolve) => form.write(chunk, () => resolve())))
      if (fault) throw fault
    },
    async end() {
      form.end()
      await soon(finished)
      if (fault) throw fault
      if (!isComplete) throw noFile()
      return people
    },
  }
}
