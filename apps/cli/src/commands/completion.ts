import { answer, argument, type Command, UsageError } from '../command.ts'
import { SHELLS, scriptFor } from '../completion/scripts.ts'
import { readCompletions } from '../completion/words.ts'

export const completionCommands: readonly Command[] = [
  {
    name: 'completion',
    usage: `ostiary completion ${SHELLS.join('|')} [--json]

Prints a script with all commands, options and their values. It starts nothing while you type; print it again after an
upgrade.
  bash   ostiary completion bash > ~/.local/share/bash-completion/completions/ostiary
  zsh    ostiary completion zsh > ~/.ostiary-completion.zsh, and in ~/.zshrc: source ~/.ostiary-completion.zsh
  fish   ostiary completion fish > ~/.config/fish/completions/ostiary.fish`,
    words: SHELLS,
    async run(invocation) {
      const asked = argument(invocation, `shell: ${SHELLS.join(', ')}`)
      const shell = SHELLS.find((known) => known === asked)
      if (!shell) throw new UsageError(`There is a completion for ${SHELLS.join(', ')}`)
      const script = scriptFor(shell, await readCompletions(invocation.commands ?? []))
      return answer(invocation, { shell, script }, script.trimEnd())
    },
  },
]
