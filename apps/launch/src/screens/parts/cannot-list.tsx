import { MOVEMENT_KINDS, type MovementKind } from '@ostiary/contract'
import type { JSX } from 'preact'
import { useState } from 'preact/hooks'
import type { ScreenProps } from '../screen.ts'
import { MoreTime } from './capture-choices.tsx'
import { AlternativeLink } from './links.tsx'
import { mayLeaveOut } from './movement-kinds.ts'

interface Props extends Pick<ScreenProps, 'view' | 'actions' | 'texts'> {
  chosen: readonly MovementKind[]
  onChoose(kinds: readonly MovementKind[]): void
}

/** Between two tries: which movements are not possible, and more time for each. Closed at first: most people need neither. */
export function CannotList(props: Props): JSX.Element {
  const { view, texts, chosen, onChoose } = props
  const { t } = texts
  const [tooMany, setTooMany] = useState(false)
  const toggle = (kind: MovementKind, box: HTMLInputElement) => {
    const fits = !box.checked || mayLeaveOut(chosen, kind)
    setTooMany(!fits)
    if (!fits) box.checked = false
    else onChoose(box.checked ? [...chosen, kind] : chosen.filter((other) => other !== kind))
  }
  return (
    <details class="cannot" open={view.cannot.length > 0}>
      <summary data-action="cannot-list">{t('cannot.title')}</summary>
      <p id="cannot-text">{t('cannot.text')}</p>
      <ul>
        {MOVEMENT_KINDS.map((kind) => (
          <li key={kind}>
            <label>
              <input
                type="checkbox"
                name={kind}
                checked={chosen.includes(kind)}
                aria-describedby="cannot-text"
                // The server knows it already and draws from the others.
                disabled={view.cannot.includes(kind)}
                onChange={({ currentTarget }) => toggle(kind, currentTarget)}
              />
              {t(`cannot.${kind}`)}
            </label>
          </li>
        ))}
      </ul>
      <p role="alert" data-least={tooMany ? '' : undefined}>
        {tooMany && (
          <>
            {t('cannot.least')} <AlternativeLink view={view} texts={texts} />
          </>
        )}
      </p>
      <MoreTime {...props} />
    </details>
  )
}
