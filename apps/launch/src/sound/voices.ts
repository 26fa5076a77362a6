/** Tags that name the same language in different ways, or another script of it by a region. */
const SAME: Readonly<Record<string, readonly string[]>> = {
  nb: ['no', 'nb'],
  fil: ['fil', 'tl'],
  he: ['he', 'iw'],
  id: ['id', 'in'],
  'zh-hans': ['zh-cn', 'zh-sg', 'zh-hans', 'cmn-hans', 'cmn-cn'],
  'zh-hant': ['zh-tw', 'zh-hk', 'zh-mo', 'zh-hant', 'cmn-hant', 'cmn-tw'],
}

/** Whether one of these voices, by their tags, speaks the language. Another one would read it as if it were its own. */
export function hasVoiceFor(language: string, voiceTags: readonly string[]): boolean {
  const wanted = plain(language)
  const names = SAME[wanted] ?? [wanted.split('-')[0] ?? '']
  return voiceTags.map(plain).some((tag) => names.some((name) => tag === name || tag.startsWith(`${name}-`)))
}

/** Android writes `en_US`. */
const plain = (tag: string) => tag.toLowerCase().replaceAll('_', '-')
