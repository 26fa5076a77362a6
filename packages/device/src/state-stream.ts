import type { LaunchState } from '@ostiary/contract'

/** The `state` events of a stream of server-sent events, as they arrive. Comments and other events are passed over. */
export async function* readStates(body: ReadableStream<Uint8Array<ArrayBuffer>>): AsyncGenerator<LaunchState> {
  const reader = body.pipeThrough(new TextDecoderStream()).getReader()
  let held = ''
  try {
    for (let next = await reader.read(); !next.done; next = await reader.read()) {
      // A line may end with CRLF, and the two bytes may arrive separately: the CR is removed below.
      const blocks = `${held}${next.value}`.split(/\r?\n\r?\n/)
      held = blocks.pop() ?? ''
      for (const block of blocks) {
        const state = stateOf(block)
        if (state) yield state
      }
    }
  } finally {
    await reader.cancel().catch(() => {})
  }
}

function stateOf(block: string): LaunchState | undefined {
  const fields = block.split(/\r?\n/).map((line) => /^([^:]*):? ?(.*)$/.exec(line))
  const values = (name: string) => fields.flatMap((field) => (field?.[1] === name ? [field[2] ?? ''] : []))
  return values('event').at(-1) === 'state' ? (JSON.parse(values('data').join('\n')) as LaunchState) : undefined
}
