import type { View } from '../flow/view.ts'

/** A variant of a screen: the view that it shows. */
export interface Variant {
  view: View
  dialog?: 'ledger' | 'cancel' | 'language'
  missingLanguage?: string
}
