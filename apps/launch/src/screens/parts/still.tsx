import type { ComponentChildren, JSX } from 'preact'
import { Emblem } from './emblem.tsx'
import { Title } from './title.tsx'

type Props = Parameters<typeof Emblem>[0] & {
  title: string
  text: string
  role?: 'status'
  children?: ComponentChildren
}

/** A screen that says one thing, and what follows from it. */
export function Still({ title, text, role, children, ...emblem }: Props): JSX.Element {
  return (
    <div class="screen screen--still">
      <Emblem {...emblem} />
      <Title>{title}</Title>
      <p class="lead" role={role}>
        {text}
      </p>
      {children}
    </div>
  )
}
