/** A name server on this machine. Only tests import this. */
import { createSocket } from 'node:dgram'
import { once } from 'node:events'

/** Addresses of a name; undefined for a name that does not exist, and 'silence' for one that is never answered. */
export type Zone = (name: string, kind: 'A' | 'AAAA') => readonly string[] | 'silence' | undefined

export interface NameServer {
  server: string
  /** Questions in the order of their arrival, as in `host.example A`. */
  asked: string[]
  close(): void
}

const HEAD_BYTES = 12
const KINDS: Readonly<Record<number, 'A' | 'AAAA'>> = { 1: 'A', 28: 'AAAA' }

export async function createNameServer(zone: Zone): Promise<NameServer> {
  const socket = createSocket('udp4')
  const asked: string[] = []
  socket.on('message', (question, from) => {
    const { name, end } = readName(question)
    const kind = KINDS[question.readUInt16BE(end)]
    if (!kind) return
    asked.push(`${name} ${kind}`)
    const found = zone(name, kind)
    if (found !== 'silence') socket.send(answer(question.subarray(0, end + 4), found), from.port, from.address)
  })
  socket.bind(0, '127.0.0.1')
  await once(socket, 'listening')
  return { server: `127.0.0.1:${socket.address().port}`, asked, close: () => void socket.close() }
}

function readName(question: Buffer): { name: string; end: number } {
  const labels: string[] = []
  let at = HEAD_BYTES
  for (let length = question[at] ?? 0; length > 0; length = question[at] ?? 0) {
    labels.push(question.toString('latin1', at + 1, at + 1 + length))
    at += 1 + length
  }
  return { name: labels.join('.').toLowerCase(), end: at + 1 }
}

/** The question with its answers: a pointer to its name, kind, class, 60 seconds, length, address. */
function answer(question: Buffer, addresses: readonly string[] | undefined): Buffer {
  const head = Buffer.from(question.subarray(0, HEAD_BYTES))
  head.writeUInt16BE(addresses ? 0x8180 : 0x8183, 2)
  head.writeUInt16BE(1, 4)
  head.writeUInt16BE(addresses?.length ?? 0, 6)
  head.writeUInt32BE(0, 8)
  const records = (addresses ?? []).map((address) => {
    const bytes = address.includes(':') ? ipv6Bytes(address) : Buffer.from(address.split('.').map(Number))
    return Buffer.concat([
      Buffer.from([0xc0, HEAD_BYTES, 0, bytes.length === 4 ? 1 : 28, 0, 1, 0, 0, 0, 60, 0, bytes.length]),
      bytes,
    ])
  })
  return Buffer.concat([head, question.subarray(HEAD_BYTES), ...records])
}

/** Only for addresses with one `::`. */
function ipv6Bytes(address: string): Buffer {
  const [before = [], after = []] = address.split('::').map((part) => (part === '' ? [] : part.split(':')))
  const groups = [...before, ...Array(8 - before.length - after.length).fill('0'), ...after]
  return Buffer.from(groups.map((group) => group.padStart(4, '0')).join(''), 'hex')
}
