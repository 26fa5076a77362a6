import type { JSX } from 'preact'
import type { ScreenProps } from '../screen.ts'

type Props = Pick<ScreenProps, 'view' | 'texts'>

/** The tenant's other way, privacy notice and help, where the tenant has them: small, below what matters. */
export function Links({ view, texts }: Props): JSX.Element | null {
  const { t } = texts
  const { alternative, privacy, support } = view.links
  if (!alternative && !privacy && !support) return null
  return (
    <ul class="links">
      {alternative && (
        <li>
          <AlternativeLink view={view} texts={texts} />
        </li>
      )}
      {privacy && (
        <li>
          <NewWindow action="privacy" href={privacy} name={t('link.privacy')} texts={texts} />
        </li>
      )}
      {support && (
        <li>
          <NewWindow action="support" href={support} name={t('link.support')} texts={texts} />
        </li>
      )}
    </ul>
  )
}

/** In this window: a user who takes it leaves this check. */
export function AlternativeLink({ view, texts: { t } }: Props): JSX.Element | null {
  const { alternative } = view.links
  if (!alternative) return null
  return (
    <a data-action="alternative" href={alternative} rel="noreferrer">
      {view.brand ? t('link.alternativeAt', { name: view.brand.name }) : t('link.alternative')}
    </a>
  )
}

/** To be read beside the check, which goes on. */
function NewWindow({
  action,
  href,
  name,
  texts: { t },
}: Pick<Props, 'texts'> & { action: string; href: string; name: string }): JSX.Element {
  return (
    <a data-action={action} href={href} target="_blank" rel="noreferrer">
      {name}
      <span class="unseen"> ({t('app.newWindow')})</span>
    </a>
  )
}
