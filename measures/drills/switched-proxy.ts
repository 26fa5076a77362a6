import { connect, createServer, type Socket } from 'node:net'

/** A TCP proxy that leads to one port at a time. */
export async function startSwitchedProxy(first: number) {
  let target = first
  const sockets = new Set<Socket>()
  const server = createServer((near) => {
    const far = connect(target, '127.0.0.1')
    for (const [from, to] of [[near, far] as const, [far, near] as const]) {
      sockets.add(from)
      from.on('error', () => {})
      from.on('close', () => {
        sockets.delete(from)
        to.destroy()
      })
      from.pipe(to)
    }
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('The proxy has no port')
  const cut = () => sockets.forEach((socket) => void socket.destroy())
  return {
    port: address.port,
    /** Cuts all connections. */
    leadTo(port: number) {
      target = port
      cut()
    },
    cut,
    close() {
      server.close()
      cut()
    },
  }
}
