/** WebDriver BiDi: commands by number, each with its reply, and events. */
export interface BiDi {
  send<T>(method: string, params: object): Promise<T>
  close(): void
}

export type BiDiEvents = Readonly<Record<string, (params: never) => void>>

export async function connectBiDi(address: string, events: BiDiEvents = {}): Promise<BiDi> {
  const socket = new WebSocket(address)
  await new Promise((resolve, reject) => {
    socket.addEventListener('open', resolve, { once: true })
    socket.addEventListener('error', reject, { once: true })
  })
  let last = 0
  const waiting = new Map<number, PromiseWithResolvers<unknown>>()
  socket.addEventListener('message', ({ data }) => {
    const { id, result, error, message, method, params } = JSON.parse(String(data))
    if (method) return events[method]?.(params as never)
    const reply = waiting.get(id)
    waiting.delete(id)
    if (error) reply?.reject(new Error(`${error}: ${message}`))
    else reply?.resolve(result)
  })
  // Nobody waits for ever for a browser that is gone.
  socket.addEventListener('close', () => {
    for (const { reject } of waiting.values()) reject(new Error('The browser closed the connection'))
    waiting.clear()
  })
  return {
    async send<T>(method: string, params: object): Promise<T> {
      const id = ++last
      const reply = Promise.withResolvers<unknown>()
      waiting.set(id, reply)
      socket.send(JSON.stringify({ id, method, params }))
      return (await reply.promise) as T
    },
    close: () => socket.close(),
  }
}
