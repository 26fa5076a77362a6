import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { AppError } from './errors.ts'
import { errorBody, isAnswered } from './http-errors.ts'

interface ParserError extends Error {
  code?: string
}

/**
 * Requests that Node's parser refuses: Node would answer them itself, with its own body or none. They get our body, so that a
 * client always sees one error shape.
 */
export function answerUnparsable(error: ParserError, socket: Socket, newRequestId: () => string): void {
  if (error.code === 'ECONNRESET' || !socket.writable || isAnswered(socket)) {
    socket.destroy()
    return
  }
  writeRaw(socket, parserFault(error), newRequestId())
}

export function answerOddities(server: Server, newRequestId: () => string): void {
  // `Expect:` with anything but 100-continue.
  server.on('checkExpectation', (_request: IncomingMessage, response: ServerResponse) => {
    const body = JSON.stringify(errorBody(badRequest('This Expect header is not supported'), newRequestId()))
    response
      .writeHead(400, {
        'content-type': 'application/json; charset=utf-8',
        'content-length': Buffer.byteLength(body),
        connection: 'close',
      })
      .end(body)
  })
  // CONNECT asks for a tunnel, which we do not offer.
  server.on('connect', (_request: IncomingMessage, socket: Socket) => {
    writeRaw(
      socket,
      new AppError('method_not_allowed', 'METHOD_NOT_ALLOWED', 'This method is not supported'),
      newRequestId(),
    )
  })
}

function parserFault(error: ParserError): AppError {
  if (error.code === 'HPE_HEADER_OVERFLOW') {
    return new AppError('headers_too_large', 'HEADERS_TOO_LARGE', 'The headers are too large')
  }
  if (error.code === 'ERR_HTTP_REQUEST_TIMEOUT') {
    return new AppError('timeout', 'REQUEST_TIMEOUT', 'The request took too long to arrive')
  }
  return badRequest('The request is not valid HTTP')
}

function badRequest(message: string): AppError {
  return new AppError('invalid_request', 'BAD_REQUEST', message)
}

const REASONS: Record<number, string> = {
  400: 'Bad Request',
  405: 'Method Not Allowed',
  408: 'Request Timeout',
  431: 'Request Header Fields Too Large',
}

function writeRaw(socket: Socket, error: AppError, requestId: string): void {
  socket.on('error', () => socket.destroy())
  const body = JSON.stringify(errorBody(error, requestId))
  socket.end(
    `HTTP/1.1 ${error.status} ${REASONS[error.status]}\r\ncontent-type: application/json; charset=utf-8\r\n` +
      `content-length: ${Buffer.byteLength(body)}\r\nx-request-id: ${requestId}\r\nconnection: close\r\n\r\n${body}`,
  )
}
