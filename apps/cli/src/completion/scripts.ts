import type { Completions } from './words.ts'

export const SHELLS = ['bash', 'zsh', 'fish'] as const
export type Shell = (typeof SHELLS)[number]

/** The completion script of a shell. It holds all words itself: nothing is started while somebody types. */
export function scriptFor(shell: Shell, completions: Completions): string {
  return shell === 'fish' ? fishScript(completions) : `${tables(completions)}\n${shell === 'bash' ? BASH : ZSH}`
}

/** Functions that bash and zsh both understand. */
function tables({ next, options, values }: Completions): string {
  return [
    '# Completion for ostiary, printed by: ostiary completion',
    lookup('_ostiary_next', next),
    lookup('_ostiary_options', options),
    lookup('_ostiary_values', values, 'return 1'),
  ].join('\n')
}

function lookup(name: string, entries: ReadonlyMap<string, readonly string[]>, otherwise = ':'): string {
  const cases = [...entries].map(
    ([key, words]) =>
      `    ${quoted(key)}) ${words.length === 0 ? ':' : `printf '%s\\n' ${words.map(quoted).join(' ')}`} ;;`,
  )
  return `${name}() {\n  case "$1" in\n${cases.join('\n')}\n    *) ${otherwise} ;;\n  esac\n}`
}

const quoted = (word: string) => `'${word.replaceAll("'", String.raw`'\''`)}'`

const BASH = `_ostiary() {
  local cur=\${COMP_WORDS[COMP_CWORD]} prev=\${COMP_WORDS[COMP_CWORD-1]} path='' word i
  for ((i = 1; i < COMP_CWORD; i++)); do
    word=\${COMP_WORDS[i]}
    [[ $word == -* ]] && break
    _ostiary_next "$path" | grep -qxF -- "$word" || break
    path="\${path:+$path }$word"
  done
  local found=''
  COMPREPLY=()
  if [[ $prev == --* ]] && found=$(_ostiary_values "$path $prev"); then
    if [[ -z $found ]]; then
      while IFS= read -r word; do COMPREPLY+=("$word"); done < <(compgen -f -- "$cur")
      return
    fi
  elif [[ $cur == --* ]]; then
    found=$(_ostiary_options "$path")
  else
    found=$(_ostiary_next "$path")
    if [[ -z $found ]]; then
      while IFS= read -r word; do COMPREPLY+=("$word"); done < <(compgen -f -- "$cur")
      return
    fi
  fi
  while IFS= read -r word; do
    [[ -n $word && $word == "$cur"* ]] && COMPREPLY+=("$word")
  done <<< "$found"
}
complete -F _ostiary ostiary
`

const ZSH = `_ostiary() {
  local cur=\${words[CURRENT]} prev=\${words[CURRENT-1]} path_words='' word found i
  for ((i = 2; i < CURRENT; i++)); do
    word=\${words[i]}
    [[ $word == -* ]] && break
    _ostiary_next "$path_words" | grep -qxF -- "$word" || break
    path_words="\${path_words:+$path_words }$word"
  done
  if [[ $prev == --* ]] && found=$(_ostiary_values "$path_words $prev"); then
    [[ -z $found ]] && { _files; return }
  elif [[ $cur == --* ]]; then
    found=$(_ostiary_options "$path_words")
  else
    found=$(_ostiary_next "$path_words")
    [[ -z $found ]] && { _files; return }
  fi
  compadd -- \${(f)found}
}
(( $+functions[compdef] )) || { autoload -Uz compinit && compinit }
compdef _ostiary ostiary
`

function fishScript({ next, options, values }: Completions): string {
  const table = (name: string, entries: ReadonlyMap<string, readonly string[]>, otherwise: string) => {
    const cases = [...entries].map(([key, words]) => {
      const print = words.length === 0 ? 'true' : `printf '%s\\n' ${words.map(quotedForFish).join(' ')}`
      return `        case ${quotedForFish(key)}\n            ${print}`
    })
    return `function ${name}\n    switch "$argv[1]"\n${cases.join('\n')}\n        case '*'\n            ${otherwise}\n    end\nend`
  }
  return `# Completion for ostiary, printed by: ostiary completion
${table('__ostiary_next', next, 'true')}
${table('__ostiary_options', options, 'true')}
${table('__ostiary_values', values, 'return 1')}
function __ostiary_complete
    set -l words (commandline -opc)[2..-1]
    set -l cur (commandline -ct)
    set -l path ''
    for word in $words
        string match -q -- '-*' $word; and break
        __ostiary_next "$path" | string match -q -- $word; or break
        set path (string trim "$path $word")
    end
    if set -q words[-1]; and string match -q -- '--*' $words[-1]
        if __ostiary_values "$path $words[-1]"
            return
        end
    end
    if string match -q -- '-*' $cur
        __ostiary_options "$path"
    end
    __ostiary_next "$path"
end
complete -c ostiary -a '(__ostiary_complete)'
`
}

const quotedForFish = (word: string) => `'${word.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`
