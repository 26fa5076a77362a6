import type { ComponentChildren, JSX } from 'preact'
import type { State } from '../flow/states.ts'
import type { Actions, View } from '../flow/view.ts'
import type { LedgerEntry } from '../ledger/ledger.ts'
import type { Texts } from '../texts/languages.ts'

/** One screen for each state of the flow. */
export type Screens = Readonly<Record<State['at'], (props: ScreenProps) => JSX.Element | null>>
/** Those of a kind of session that has its own. */
export type MoreScreens = Partial<Screens>

/** What every screen gets. */
export interface ScreenProps {
  view: View
  actions: Actions
  texts: Texts
  page: PageFacts
}

/** What a screen needs to know of the page it is on, and may do to it. */
export interface PageFacts {
  /** Unix milliseconds by this device's clock. */
  nowMs(): number
  /** The link with which the page was opened, code of a handoff included. */
  link: string
  userAgent: string
  /** Stands in for the camera's picture where there is no camera: in the screen catalog. */
  preview?: ComponentChildren
  ledger: { entries(): readonly LedgerEntry[]; onChange(listener: () => void): () => void }
}
