import type { ComponentChildren, JSX } from 'preact'
import type { State } from '../flow/states.ts'
import type { Actions, View } from '../flow/view.ts'
import type { LedgerEntry } from '../ledger/ledger.ts'
import type { Texts } from '../texts/languages.ts'

/** One screen for each state of the flow. */
export type Screens = Readonly<Record<State['at'], (props: ScreenProps) => JSX.Element | null>>
/** Screens that replace the default ones, for sessions that have their own. */
export type MoreScreens = Partial<Screens>

/** What the document step adds to screens of others: points of the consent, why it ended, and what was sent. */
export type Additions = Partial<
  Record<'welcome' | 'ended' | 'ledger', (props: Pick<ScreenProps, 'view' | 'texts'>) => JSX.Element | null>
>

/** What every screen gets. */
export interface ScreenProps {
  view: View
  actions: Actions
  texts: Texts
  page: PageFacts
  /** What another part adds to this screen. */
  more?: ComponentChildren
}

/** What a screen needs to know about the page. */
export interface PageFacts {
  /** Unix milliseconds by this device's clock. */
  nowMs(): number
  /** The link with which the page was opened, including a handoff code. */
  link: string
  userAgent: string
  /** Replaces the camera's picture in the screen catalog, which has no camera. */
  preview?: ComponentChildren
  /** SHA-256 of the built page; null if it is not known. */
  digest(): Promise<string | null>
  ledger: { entries(): readonly LedgerEntry[]; onChange(listener: () => void): () => void }
}
