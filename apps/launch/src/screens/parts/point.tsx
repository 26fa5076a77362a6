import type { JSX } from 'preact'
import { Icon, type IconName } from './icons.tsx'

interface Props {
  icon: IconName
  title: string
  text: string
  /** Names what nobody may overlook; it stands out then. */
  note?: string
}

/** One of the things to know before agreeing. */
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
