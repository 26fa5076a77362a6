/** One command, as a program runs it: without a terminal. Only tests import this. */
import { runCli } from '../cli.ts'

export interface Ran {
  code: number
  out: string
  err: string
}

export async function runQuietly(
  args: readonly string[],
  env: Record<string, string | undefined> = {},
  more: { showsProgress?: boolean; progress?: (text: string) => void } = {},
): Promise<Ran> {
  const [out, err]: [string[], string[]] = [[], []]
  const code = await runCli([...args], env, {
    out: (text) => out.push(text),
    err: (text) => err.push(text),
    isInteractive: false,
    progress: () => {},
    ...more,
  })
  return { code, out: out.join('\n'), err: err.join('\n') }
}
