import type { View } from '../flow/view.ts'
import type { Translate } from '../texts/translate.ts'

/** What kind of check this is. While nobody knows, because the session is not open here, the title does not say: it may be a sign-in. */
export function kindOfCheck({ session, state }: Pick<View, 'session' | 'state'>, t: Translate): string {
  return t(session !== null && state.at !== 'loading' ? 'app.title' : 'app.titleOpen')
}

/** Of the window. */
export function windowTitle(view: Pick<View, 'session' | 'state' | 'brand'>, t: Translate): string {
  const kind = kindOfCheck(view, t)
  return view.brand ? `${kind}: ${view.brand.name}` : kind
}
