import { connect, createServer, type Socket } from 'node:net'

export interface DatabaseProxy {
  /** The database's URL through the proxy. */
  url: string
  /** Keeps all connections open and passes nothing on, as when a machine vanishes. */
  setDead(state: boolean): void
  close(): void
}

/** A TCP proxy before PostgreSQL. `onSent` gets everything that goes to the database. Only tests import this. */
export async function startDatabaseProxy(
  url: string,
  onSent: (chunk: Buffer) => void = () => {},
): Promise<DatabaseProxy> {
  const { hostname, port } = new URL(url)
  const sockets = new Set<Socket>()
  let dead = false
  const server = createServer((near) => {
    const far = connect(Number(port), hostname)
    near.on('data', onSent)
    for (const [from, to] of [
      [near, far],
      [far, near],
    ] as const) {
      sockets.add(from)
      from.on('data', (chunk) => dead || to.write(chunk))
      from.on('error', () => {})
      from.on('close', () => dead || to.destroy())
    }
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('The proxy has no port')
  return {
    url: Object.assign(new URL(url), { port: String(address.port) }).href,
    setDead: (state) => {
      dead = state
    },
    close() {
      for (const socket of sockets) socket.destroy()
      server.close()
    },
  }
}
