import type pg from 'pg'

/** COPY in PostgreSQL's binary format: a million rows in a minute, without a package for it. */
export type Row = readonly (Buffer | null)[]

const HEADER = Buffer.concat([Buffer.from('PGCOPY\n\xff\r\n\0', 'latin1'), Buffer.alloc(8)])
const TRAILER = Buffer.from([0xff, 0xff])
const CHUNK_BYTES = 1 << 20

interface CopyConnection {
  query(text: string): void
  sendCopyFromChunk(chunk: Buffer): void
  endCopyFrom(): void
  stream: { writableNeedDrain: boolean; once(event: 'drain', listener: () => void): void }
}

export async function copyRows(client: pg.Client, target: string, rows: Iterable<Row>): Promise<void> {
  await new Promise<void>((resolve, reject) => {
    let failure: Error | undefined
    const copy = {
      submit: (connection: CopyConnection) => connection.query(`copy ${target} from stdin (format binary)`),
      handleCopyInResponse: (connection: CopyConnection) =>
        void send(connection, rows).then(() => connection.endCopyFrom(), reject),
      handleCommandComplete: () => {},
      handleError: (error: Error) => {
        failure = error
        reject(error)
      },
      handleReadyForQuery: () => (failure ? reject(failure) : resolve()),
    }
    client.query(copy as unknown as pg.Submittable)
  })
}

async function send(connection: CopyConnection, rows: Iterable<Row>): Promise<void> {
  let parts: Buffer[] = [HEADER]
  let size = 0
  const flush = async () => {
    connection.sendCopyFromChunk(Buffer.concat(parts))
    parts = []
    size = 0
    if (connection.stream.writableNeedDrain) await new Promise<void>((done) => connection.stream.once('drain', done))
  }
  for (const row of rows) {
    const encoded = encode(row)
    parts.push(encoded)
    size += encoded.length
    if (size >= CHUNK_BYTES) await flush()
  }
  parts.push(TRAILER)
  await flush()
}

function encode(row: Row): Buffer {
  const count = Buffer.alloc(2)
  count.writeInt16BE(row.length)
  return Buffer.concat([
    count,
    ...row.flatMap((field) => {
      const length = Buffer.alloc(4)
      length.writeInt32BE(field?.length ?? IS_NULL)
      return field ? [length, field] : [length]
    }),
  ])
}

const IS_NULL = -1

export const field = {
  bool: (value: boolean) => Buffer.of(value ? 1 : 0),
  text: (value: string) => Buffer.from(value),
  uuid: (value: string) => Buffer.from(value.replaceAll('-', ''), 'hex'),
  int2: (value: number) => {
    const bytes = Buffer.alloc(2)
    bytes.writeInt16BE(value)
    return bytes
  },
  int4: (value: number) => {
    const bytes = Buffer.alloc(4)
    bytes.writeInt32BE(value)
    return bytes
  },
  int8: (value: number) => {
    const bytes = Buffer.alloc(8)
    bytes.writeBigInt64BE(BigInt(value))
    return bytes
  },
  timestamp: (value: Date) => field.int8((value.getTime() - Date.UTC(2000, 0, 1)) * 1000),
}
