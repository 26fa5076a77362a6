/** Writes archives that depend on nothing but their files: same files, same bytes. */
import { gzipSync } from 'node:zlib'

/** Content by path. */
export type Files = Readonly<Record<string, string | Uint8Array>>

const BLOCK = 512
/** npm gives its own archives this time, because some programs refuse the year 1970. */
const MODIFIED_SECONDS = Date.UTC(1985, 9, 26, 8, 15) / 1000

/** An archive as `npm pack` makes it: sorted, with one time, without an owner. `executable` names files with a `#!` line. */
export function packArchive(files: Files, executable: readonly string[] = []): Buffer {
  const blocks = Object.keys(files)
    .sort()
    .flatMap((path) => {
      const content = Buffer.from(files[path] ?? '')
      const padding = Buffer.alloc((BLOCK - (content.length % BLOCK)) % BLOCK)
      return [header(`package/${path}`, content.length, executable.includes(path) ? 0o755 : 0o644), content, padding]
    })
  const archive = gzipSync(Buffer.concat([...blocks, Buffer.alloc(2 * BLOCK)]), { level: 9 })
  // The byte for the operating system: zlib writes the one on which it runs.
  archive[9] = 255
  return archive
}

/** One header in the ustar format. */
function header(path: string, sizeBytes: number, mode: number): Buffer {
  if (Buffer.byteLength(path) > 100) throw new Error(`${path} is too long for the archive`)
  const block = Buffer.alloc(BLOCK)
  const octal = (value: number, digits: number) => `${value.toString(8).padStart(digits, '0')}\0`
  block.write(path, 0)
  block.write(octal(mode, 7), 100)
  block.write(octal(0, 7), 108)
  block.write(octal(0, 7), 116)
  block.write(octal(sizeBytes, 11), 124)
  block.write(octal(MODIFIED_SECONDS, 11), 136)
  block.write('        ', 148)
  block.write('0', 156)
  block.write('ustar\0', 257)
  block.write('00', 263)
  const sum = block.reduce((total, byte) => total + byte, 0)
  block.write(`${sum.toString(8).padStart(6, '0')}\0 `, 148)
  return block
}
