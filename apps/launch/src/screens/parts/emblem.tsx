import type { JSX } from 'preact'
import { Icon, type IconName } from './icons.tsx'

type Mood = 'plain' | 'wait' | 'done' | 'alert'

/** An oval with an icon, at the top of every screen. */
export function Emblem({ icon, mood = 'plain' }: { icon: IconName; mood?: Mood }): JSX.Element {
  return (
    <div class={`emblem emblem--${mood}`} aria-hidden="true">
      <Icon name={icon} size={mood === 'done' ? 40 : 34} />
      {mood === 'wait' && (
        <svg class="emblem__ring" viewBox="0 0 84 108" stroke-width="3" aria-hidden="true">
          <ellipse cx="42" cy="54" rx="40" ry="52" pathLength="100" stroke-dasharray="28 72" />
        </svg>
      )}
    </div>
  )
}
