import type { JSX } from 'preact'
import type { ScreenProps } from '../screen.ts'

/** Who asks for what: for which age, and by which estimate, where the server says so. */
export function Asks({ view, texts: { t } }: Pick<ScreenProps, 'view' | 'texts'>): JSX.Element {
  const { ages, brand } = view
  const name = brand?.name
  if (!ages) return <p class="lead">{name === undefined ? t('welcome.asksNobody') : t('welcome.asks', { name })}</p>
  const count = ages.age
  const hasEstimate = ages.estimate !== null && ages.estimate !== count && view.document?.alone !== true
  return (
    <p class="lead">
      {name === undefined ? t('welcome.asksAgeNobody', { count }) : t('welcome.asksAge', { name, count })}
      {hasEstimate && ` ${t('welcome.buffer', { count: ages.estimate ?? count })}`}
    </p>
  )
}
