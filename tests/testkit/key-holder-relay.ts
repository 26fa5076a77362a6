/**
 * A key holder that may cheat: it stands between the server and a real key holder, has the key that the server trusts, and sees every
 * evaluation as the real one does. Only tests and measures use it.
 */
import { randomBytes } from 'node:crypto'
import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import {
  decodeFrame,
  type EvaluationHeader,
  FRAME_PARTS,
  KEY_HOLDER_LIMITS,
  KEY_HOLDER_PATHS,
  type TokenVerdict,
} from '@ostiary/contract'
import { readRequestSignature, readServiceKey, SERVICE_SIGNATURE_HEADER, signServiceReply } from '@ostiary/crypto'

/** What a key holder gets with one evaluation. */
export interface SeenEvaluation {
  header: EvaluationHeader
  token: Uint8Array
  probe: Uint8Array
  evaluation: Uint8Array
}

export interface KeyHolderRelay {
  url: string
  /** The server's KEY_HOLDER_KEY. */
  serviceKey: string
  /** Everything that the server let this key holder evaluate; enrolments are not among it. */
  seen: SeenEvaluation[]
  /** Answers evaluations itself. Undefined: passes them on, as at the beginning. A promise may hold the answer back. */
  answer: ((seen: SeenEvaluation) => Promise<TokenVerdict>) | undefined
  close(): Promise<void>
}

export async function startKeyHolderRelay(target: { url: string }): Promise<KeyHolderRelay> {
  const { privateKey, publicKey } = await readServiceKey(randomBytes(32))
  const server = createServer(async (request, response) => {
    const path = request.url ?? ''
    const body = await bytesOf(request)
    const header = String(request.headers[SERVICE_SIGNATURE_HEADER] ?? '')
    let reply: { status: number; body: Uint8Array }
    try {
      reply = await replyTo(request.method ?? '', path, header, body)
    } catch {
      return response.destroy()
    }
    const requestId = readRequestSignature(header)?.requestId ?? ''
    const signature = await signServiceReply(privateKey, { requestId, ...reply })
    const headers = { 'content-type': 'application/json', [SERVICE_SIGNATURE_HEADER]: signature }
    return response.writeHead(reply.status, headers).end(reply.body)
  })

  async function replyTo(method: string, path: string, header: string, body: Uint8Array<ArrayBuffer>) {
    if (path === KEY_HOLDER_PATHS.evaluations) {
      const seen = read(body)
      relay.seen.push(seen)
      if (relay.answer) return { status: 200, body: Buffer.from(JSON.stringify({ verdict: await relay.answer(seen) })) }
    }
    const sent = method === 'POST' ? { body } : {}
    const reply = await fetch(`${target.url}${path}`, {
      method,
      headers: { [SERVICE_SIGNATURE_HEADER]: header },
      ...sent,
    })
    return { status: reply.status, body: new Uint8Array(await reply.arrayBuffer()) }
  }

  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const relay: KeyHolderRelay = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    serviceKey: publicKey,
    seen: [],
    answer: undefined,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
  return relay
}

function read(body: Uint8Array): SeenEvaluation {
  const limits = { parts: FRAME_PARTS.length, messageBytes: KEY_HOLDER_LIMITS.headerBytes }
  const { message, parts } = decodeFrame(body, limits)
  const [token, probe, evaluation] = parts
  if (!token || !probe || !evaluation) throw new Error('The frame has too few parts')
  return { header: message as EvaluationHeader, token, probe, evaluation }
}

async function bytesOf(request: IncomingMessage): Promise<Uint8Array<ArrayBuffer>> {
  const pieces: Buffer[] = []
  for await (const piece of request) pieces.push(piece as Buffer)
  return new Uint8Array(Buffer.concat(pieces))
}
