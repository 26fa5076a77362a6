import { createReadStream } from 'node:fs'
import { open } from 'node:fs/promises'
import type { ByteStream } from '@ostiary/sdk'

/** A file that is opened again each time it is read: first its rows are counted, then its parts are sent. */
export async function csvFile(path: string): Promise<() => ByteStream> {
  const file = await open(path).catch((error) => {
    throw new Error(error.code === 'ENOENT' ? `There is no file ${path}` : `${path} cannot be read: ${error.message}`)
  })
  try {
    if ((await file.stat()).isDirectory()) throw new Error(`${path} is a folder: name the file in it`)
  } finally {
    await file.close()
  }
  return () => createReadStream(path)
}
