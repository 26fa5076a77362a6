import type { JSX } from 'preact'
import { Icon, type IconName } from './icons.tsx'

interface Props {
  icon: IconName
  title: string
  text: string
  /** An emphasised heading, for a point that nobody may overlook. */
  note?: string
}

/** One point of the consent screen. */
export function Point({ icon, title, text, note }: Props): JSX.Element {
  return (
    <li class={note && 'how'} data-note={note}>
      <span class="point__icon">
        <Icon name={icon} size={22} />
      </span>
      <h2>{title}</h2>
      <p>{text}</p>
    </li>
  )
}
