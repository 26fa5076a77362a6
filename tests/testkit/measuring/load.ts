import { connect, type Socket } from 'node:net'

/**
 * A closed-loop load generator on persistent connections. It can measure two servers in alternating slices of a fraction of a
 * second: on a machine with other load, only measurements close in time can be compared.
 */
export interface Load {
  /** Sends for the given time, waits for the last answers, and returns their number. Throws on any answer that is not 2xx. */
  run(ms: number): Promise<number>
  close(): void
}

export interface LoadRequest {
  method: string
  path: string
  headers: Record<string, string>
  body?: string
}

export async function createLoad(baseUrl: string, request: LoadRequest, connections: number): Promise<Load> {
  const { hostname, port, host } = new URL(baseUrl)
  const bytes = requestBytes(host, request)
  const lanes = await Promise.all(Array.from({ length: connections }, () => openLane(hostname, Number(port))))
  return {
    async run(ms) {
      const until = performance.now() + ms
      const counts = await Promise.all(
        lanes.map(async (lane) => {
          let count = 0
          while (performance.now() < until) {
            const status = await lane.exchange(bytes)
            if (status < 200 || status > 299)
              throw new Error(`${request.method} ${request.path} was answered ${status}`)
            count++
          }
          return count
        }),
      )
      return counts.reduce((sum, count) => sum + count, 0)
    },
    close() {
      for (const lane of lanes) lane.socket.destroy()
    },
  }
}

function requestBytes(host: string, { method, path, headers, body = '' }: LoadRequest): Buffer {
  const length = body === '' ? [] : [`content-length: ${Buffer.byteLength(body)}`]
  const lines = [
    `${method} ${path} HTTP/1.1`,
    `host: ${host}`,
    ...Object.entries(headers).map(([name, value]) => `${name}: ${value}`),
    ...length,
  ]
  return Buffer.from(`${lines.join('\r\n')}\r\n\r\n${body}`)
}

interface Lane {
  socket: Socket
  exchange(bytes: Buffer): Promise<number>
}

async function openLane(host: string, port: number): Promise<Lane> {
  const socket = connect(port, host)
  socket.setNoDelay(true)
  await new Promise((resolve, reject) => socket.once('connect', resolve).once('error', reject))
  let received = ''
  let done: { resolve(status: number): void; reject(error: Error): void } | undefined
  socket.setEncoding('latin1')
  socket.on('data', (chunk: string) => {
    received += chunk
    const headEnd = received.indexOf('\r\n\r\n')
    if (headEnd < 0) return
    const length = Number(/content-length: (\d+)/i.exec(received)?.[1] ?? 0)
    if (received.length < headEnd + 4 + length) return
    const status = Number(received.slice(9, 12))
    received = ''
    done?.resolve(status)
  })
  socket.on('error', (error) => done?.reject(error))
  socket.on('close', () => done?.reject(new Error('The server closed the connection')))
  return {
    socket,
    exchange: (bytes) =>
      new Promise((resolve, reject) => {
        done = { resolve, reject }
        socket.write(bytes)
      }),
  }
}
