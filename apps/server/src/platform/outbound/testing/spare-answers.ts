/** Receivers that answer some messages twice. Tests and the drill hostile-receiver import this. */
import { createServer, type Server, type Socket } from 'node:net'
import { createServer as createTlsServer } from 'node:tls'
import type { PooledOutbound } from '../pooled.ts'
import { createCertificate } from './certificate.ts'
import { closeServers, listen } from './servers.ts'

const CALLERS = 40
const OWNERS = 20
const STATUSES = [200, 202, 204, 302, 404, 410, 429, 500, 503]
/** No message deserves this status. */
const SPARE_STATUS = 299
const SPARE = `HTTP/1.1 ${SPARE_STATUS} Spare\r\ncontent-length: 0\r\n\r\n`

export interface SpareAnswers {
  /** Messages that got a status other than their own. */
  wrong: number
  /** Messages that got none, because the spare answer ended their connection. */
  failed: number
  connections: number
}

const { cert, key } = createCertificate('twice.example')

/** How an outbound must be made for these receivers. With few connections each is used again as soon as it may be. */
export const SPARE_ANSWERS_OPTIONS = { allowNetworks: ['127.0.0.1/32'], ca: cert, connectionsPerOrigin: 4 }

/** Posts over TCP, one in four with TLS. A third of the answers is followed by a spare one: in the same write, or up to 6 ms later. */
export async function postForSpareAnswers(outbound: PooledOutbound, posts: number): Promise<SpareAnswers> {
  const [plain, secure] = await Promise.all([
    listen(createServer(answerTwice)),
    listen(createTlsServer({ cert, key }, answerTwice) as Server),
  ])
  const found = { wrong: 0, failed: 0, connections: 0 }
  let next = 0
  async function callOneByOne(): Promise<void> {
    while (next < posts) {
      const index = next++
      const status = STATUSES[index % STATUSES.length] ?? 200
      const base = index % 4 === 1 ? `https://127.0.0.1:${secure.port}` : `http://127.0.0.1:${plain.port}`
      const late = index % 3 === 0 ? `${(index / 3) % 8}` : ''
      const request = { owner: `${index % OWNERS}`, url: `${base}/${status}/${late}`, allowHttp: true, headers: [] }
      const got = await outbound.post({ ...request, body: Buffer.from('{}') }).then(
        (answer) => answer.status,
        () => undefined,
      )
      if (got === undefined) found.failed++
      else if (got !== status) found.wrong++
    }
  }
  await Promise.all(Array.from({ length: CALLERS }, callOneByOne))
  found.connections = plain.connections() + secure.connections()
  closeServers()
  return found
}

/** The path says the status, and how many ms later the spare answer comes: 7 stands for the same write, nothing for no spare answer. */
function answerTwice(socket: Socket): void {
  let request = ''
  socket.on('error', () => {})
  socket.on('data', (bytes) => {
    request += bytes.toString('latin1')
    if (!request.endsWith('\r\n\r\n{}')) return
    const [, status, late] = /^POST \/(\d+)\/(\d?) /.exec(request) ?? []
    request = ''
    const length = status === '204' ? '' : 'content-length: 0\r\n'
    socket.write(`HTTP/1.1 ${status} Own\r\n${length}\r\n${late === '7' ? SPARE : ''}`)
    if (late && late !== '7') setTimeout(() => socket.writable && socket.write(SPARE), Number(late))
  })
}
