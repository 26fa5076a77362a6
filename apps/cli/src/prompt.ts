import { createInterface } from 'node:readline/promises'
import { Writable } from 'node:stream'
import { text } from 'node:stream/consumers'

export const isAtTerminal = (): boolean => process.stdin.isTTY === true && process.stderr.isTTY === true

/** Asks on standard error, so that standard output stays the result. A hidden answer is not shown while it is typed. */
export async function ask(question: string, { hidden = false } = {}): Promise<string> {
  if (hidden) process.stderr.write(question)
  const nowhere = new Writable({ write: (_chunk, _encoding, done) => done() })
  const lines = createInterface({
    input: process.stdin,
    output: hidden ? nowhere : process.stderr,
    terminal: true,
  })
  const cancelled = Promise.withResolvers<never>()
  lines.once('SIGINT', () => cancelled.reject(new Error('Cancelled')))
  try {
    return (await Promise.race([lines.question(hidden ? '' : question), cancelled.promise])).trim()
  } finally {
    lines.close()
    if (hidden) process.stderr.write('\n')
  }
}

/** What is piped in. */
export const readPiped = async (): Promise<string> => (await text(process.stdin)).trim()
