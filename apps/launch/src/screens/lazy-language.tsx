import type { ComponentProps, JSX } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import type { LanguageDialog } from './language.tsx'

type Props = ComponentProps<typeof LanguageDialog>
let loaded: typeof LanguageDialog | null = null

/** The list of languages, once it is loaded. Without a connection it stays closed, and the next press tries again. */
export function LazyLanguageDialog(props: Props): JSX.Element | null {
  const [Picker, setPicker] = useState(() => loaded)
  useEffect(() => {
    if (loaded) return
    load().then((dialog) => {
      loaded = dialog
      setPicker(() => loaded)
    }, props.onClose)
  }, [])
  return Picker && <Picker {...props} />
}

async function load(): Promise<typeof LanguageDialog> {
  const part = await import('./language.tsx')
  await part.addLanguageStyle()
  return part.LanguageDialog
}
