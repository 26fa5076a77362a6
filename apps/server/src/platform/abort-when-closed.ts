import type { FastifyReply } from 'fastify'
import { AppError } from './errors.ts'

/** Aborts when the connection closes before the reply is complete: no caller waits for the rest of the work. */
export function abortWhenClosed(reply: Pick<FastifyReply, 'raw'>): AbortSignal {
  const controller = new AbortController()
  reply.raw.once('close', () => {
    if (!reply.raw.writableFinished) controller.abort(new AppError('timeout', 'REQUEST_TIMEOUT', 'The caller has gone'))
  })
  return controller.signal
}
