import { connect, createServer, type Socket } from 'node:net'

/** A line to a service that counts what goes over it. */
export interface CountingLink {
  url: string
  /** Bytes to the service and back since the last call, with headers. */
  take(): { sent: number; received: number }
  stop(): Promise<void>
}

export async function startCountingLink(serviceUrl: string): Promise<CountingLink> {
  const { hostname, port } = new URL(serviceUrl)
  const sockets = new Set<Socket>()
  let counts = { sent: 0, received: 0 }
  const server = createServer((caller) => {
    const service = connect(Number(port), hostname)
    for (const socket of [caller, service]) {
      sockets.add(socket)
      socket.setNoDelay(true)
      socket.on('error', () => {})
      socket.on('close', () => {
        sockets.delete(socket)
        caller.destroy()
        service.destroy()
      })
    }
    caller.on('data', (bytes) => {
      counts.sent += bytes.length
    })
    service.on('data', (bytes) => {
      counts.received += bytes.length
    })
    caller.pipe(service).pipe(caller)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('The link has no port')
  return {
    url: `http://127.0.0.1:${address.port}`,
    take() {
      const taken = counts
      counts = { sent: 0, received: 0 }
      return taken
    },
    stop() {
      for (const socket of sockets) socket.destroy()
      return new Promise((resolve) => server.close(() => resolve()))
    },
  }
}
