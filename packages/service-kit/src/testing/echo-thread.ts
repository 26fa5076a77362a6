/** A thread for tests: answers, fails or ends as its task says. */
export interface EchoTask {
  does: 'answer' | 'fail' | 'end' | 'hang'
  bytes?: Uint8Array
}

export async function run({ does, bytes }: EchoTask): Promise<number> {
  if (does === 'end') process.exit(1)
  if (does === 'fail') throw new Error('bad bytes')
  if (does === 'hang') return new Promise(() => setInterval(() => {}, 1_000))
  return bytes?.length ?? 0
}
