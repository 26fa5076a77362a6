import { next } from './machine.ts'
import type { Event, State } from './states.ts'
import type { View } from './view.ts'

/** Holds the view. All changes go through `patch` and `dispatch`. */
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
    /** Returns the state after the event: the same one if the current screen ignores the event. */
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
    /** Called with every new state: starts the work that its screen needs. */
    onEnter(listener: (state: State, before: State) => void): void {
      entered.add(listener)
    },
  }
}
export type Store = ReturnType<typeof createStore>
