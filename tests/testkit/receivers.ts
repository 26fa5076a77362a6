import { type ChildProcess, fork } from 'node:child_process'
import { ROOT } from './run.ts'

/**
 * Webhook receivers on 127.0.0.1, in a separate process so that they do not use the event loop of the measuring process.
 * A test can change the behaviour of each at any time.
 */
export interface Receivers {
  urls: readonly string[]
  /** Resolves when the receiver behaves this way: a dead one no longer listens, one that is back listens again. */
  behave(receiver: number, behaviour: Behaviour): Promise<void>
  /** The requests since the last call, in order of arrival, with checked signatures. */
  take(): Promise<Arrival[]>
  /** Requests that arrived so far, and those of them that are not answered. */
  count(): Promise<{ arrived: number; open: number }>
  stop(): Promise<void>
}

/**
 * - `error` answers 500, `mixed` answers 500, resets and answers 200 in turn
 * - `late` answers after 11 seconds, when the sender has timed out
 * - `hang` never answers, `half` stops in the middle of its headers
 * - `reset` breaks the connection, `dead` does not listen
 */
export type Behaviour = 'ok' | 'error' | 'mixed' | 'late' | 'hang' | 'half' | 'reset' | 'dead'

/** One request as a receiver saw it. */
export interface Arrival {
  receiver: number
  atMs: number
  deliveryId: string
  sessionId: string
  attempt: number
  bodyHash: string
  /** Both signatures are right and fresh. */
  genuine: boolean
  /** It was answered with 2xx, in time. */
  accepted: boolean
}

/** A message to the process. It answers each with a message of the same number. */
export type Order = { n: number } & (
  | { do: 'open'; keys: readonly string[] }
  | { do: 'open-fast'; count: number }
  | { do: 'behave'; receiver: number; behaviour: Behaviour }
  | { do: 'take' }
  | { do: 'count' }
)

export interface Answer {
  n: number
  ports?: number[]
  arrivals?: Arrival[]
  arrived?: number
  open?: number
}

type OrderFields = Order extends infer One ? (One extends Order ? Omit<One, 'n'> : never) : never

/** One receiver for each key: it checks signatures with it. */
export function startReceivers(keys: readonly string[]): Promise<Receivers> {
  return start({ do: 'open', keys })
}

/** Receivers that only count and answer 200 without reading the body: as fast as a receiver can be. */
export function startFastReceivers(count: number): Promise<Receivers> {
  return start({ do: 'open-fast', count })
}

async function start(opening: OrderFields): Promise<Receivers> {
  const child = fork(`${ROOT}tests/testkit/receiver-process.ts`, {
    serialization: 'advanced',
    env: { PATH: process.env.PATH },
  })
  const ask = createAsk(child)
  const { ports = [] } = await ask(opening)
  return {
    urls: ports.map((port) => `http://127.0.0.1:${port}/webhook`),
    async behave(receiver, behaviour) {
      await ask({ do: 'behave', receiver, behaviour })
    },
    take: async () => (await ask({ do: 'take' })).arrivals ?? [],
    async count() {
      const { arrived = 0, open = 0 } = await ask({ do: 'count' })
      return { arrived, open }
    },
    async stop() {
      const exited = new Promise((resolve) => child.once('exit', resolve))
      if (child.exitCode === null && child.kill('SIGKILL')) await exited
    },
  }
}

function createAsk(child: ChildProcess): (order: OrderFields) => Promise<Answer> {
  const waiting = new Map<number, { resolve(answer: Answer): void; reject(error: Error): void }>()
  let next = 0
  child.on('message', (answer: Answer) => {
    waiting.get(answer.n)?.resolve(answer)
    waiting.delete(answer.n)
  })
  child.once('exit', () => {
    for (const { reject } of waiting.values()) reject(new Error('The process of the receivers ended'))
  })
  return (order) =>
    new Promise((resolve, reject) => {
      const n = next++
      waiting.set(n, { resolve, reject })
      child.send({ n, ...order })
    })
}
