import { connect, createServer, type Socket } from 'node:net'

export interface CuttingProxy {
  /** The database's URL through the proxy. */
  url: string
  /** Cuts one connection; false when there is none. */
  cut(): boolean
  close(): void
}

/** A proxy before PostgreSQL that passes bytes on in pieces and late, and cuts connections when it is told to. */
export async function startCuttingProxy(url: string, random: () => number): Promise<CuttingProxy> {
  const { hostname, port } = new URL(url)
  const connections = new Set<() => void>()
  const server = createServer((near) => {
    const far = connect(Number(port), hostname)
    const cut = () => {
      near.destroy()
      far.destroy()
      connections.delete(cut)
    }
    connections.add(cut)
    passOn(near, far, random)
    passOn(far, near, random)
    for (const socket of [near, far]) socket.setNoDelay(true).on('error', cut).on('close', cut)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('The proxy has no port')
  return {
    url: Object.assign(new URL(url), { hostname: '127.0.0.1', port: String(address.port) }).href,
    cut() {
      const chosen = [...connections][Math.floor(random() * connections.size)]
      chosen?.()
      return chosen !== undefined
    },
    close() {
      for (const cut of [...connections]) cut()
      server.close()
    },
  }
}

const LATE_MS = 3

function passOn(from: Socket, to: Socket, random: () => number): void {
  let before = Promise.resolve()
  const write = (piece: Buffer, lateMs: number) => {
    before = before.then(async () => {
      if (lateMs > 0) await new Promise((resolve) => setTimeout(resolve, lateMs))
      if (to.writable) to.write(piece)
    })
  }
  from.on('data', (bytes) => {
    const at = random() < 0.5 ? Math.floor(random() * bytes.length) : 0
    if (at > 0) write(bytes.subarray(0, at), 0)
    write(bytes.subarray(at), random() < 0.2 ? random() * LATE_MS : 0)
  })
}
