import { next } from './machine.ts'
import type { Event, State } from './states.ts'
import type { View } from './view.ts'

/** What the page shows, and the one way to change it. */
export function createStore(first: View) {
  let view = first
  const listeners = new Set<(view: View) => void>()
  const entered = new Set<(state: State, before: State) => void>()
  const patch = (part: Partial<View>) => {
    view = { ...view, ...part }
    for (const listener of listeners) listener(view)
  }
  return {
    view: () => view,
    patch,
    /** The state after the event; the same as before when the event cannot happen there. */
    dispatch(event: Event): State {
      const before = view.state
      const state = next(before, event)
      if (state === before) return state
      patch({ state })
      for (const listener of entered) listener(state, before)
      return state
    },
    onChange(listener: (view: View) => void): void {
      listeners.add(listener)
    },
    /** HostEvent of every new state: what a screen needs to have begun, begins here. */
    onEnter(listener: (state: State, before: State) => void): void {
      entered.add(listener)
    },
  }
}
export type Store = ReturnType<typeof createStore>
