import assert from 'node:assert/strict'
import { createServer, connect, type Socket } from 'node:net'
import { after, test } from 'node:test'
import type { Exchange } from './connection.ts'
import { OutboundError } from './errors.ts'
import type { Dial } from './guard.ts'
import { Origin } from './origin.ts'
import { closeServers, listen } from './testing/servers.ts'

after(closeServers)

const LIMITS = { connections: 4, openMs: 10_000, answerBytes: 4_096 }

/** Opens the first connection never, as to a receiver that drops what asks for one, and all later ones. */
function dialer(port: number): { dial: Dial; dials(): number } {
  let dials = 0
  const dial: Dial = ({ onOpen, onBytes, onClosed }) => {
    const isDead = dials++ === 0
    const buffer = Buffer.alloc(65_536)
    const onread = {
      buffer,
      callback(length: number) {
        onBytes(buffer, length)
        return true
      },
    }
    const socket: Socket = connect({ port, host: '127.0.0.1', onread })
    socket.once('connect', () => (isDead ? undefined : onOpen()))
    socket.once('close', () => onClosed(undefined))
    return socket
  }
  return { dial, dials: () => dials }
}

function exchangeOf(): { exchange: Exchange; ended: Promise<string> } {
  const { promise, resolve } = Promise.withResolvers<string>()
  const exchange: Exchange = {
    bytes: Buffer.from('POST / HTTP/1.1\r\nhost: h\r\ncontent-length: 0\r\n\r\n'),
    startedMs: performance.now(),
    connection: undefined,
    end: (error, answer) => resolve(answer ? String(answer.status) : (error?.reason ?? 'nothing')),
  }
  return { exchange, ended: promise }
}

test('a call that begins while the connection of a late one is given up gets a connection of its own', async () => {
  const { port } = await listen(
    createServer((socket) => {
      socket.on('error', () => {})
      socket.once('data', () => socket.write('HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n'))
    }),
  )
  const { dial, dials } = dialer(port)
  const origin = new Origin(dial, LIMITS)
  const [late, next] = [exchangeOf(), exchangeOf()]
  origin.start(late.exchange)
  // As at its deadline: the lane starts the next one at once, before the socket has closed.
  origin.drop(late.exchange)
  late.exchange.end(new OutboundError('timeout'), undefined)
  origin.start(next.exchange)
  assert.equal(await next.ended, '200')
  assert.equal(dials(), 2)
  origin.close()
})
