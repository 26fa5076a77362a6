import type { JSX } from 'preact'
import { CopyLink } from './parts/copy-link.tsx'
import { inAppText } from './parts/in-app-text.ts'
import { QrCode } from './parts/qr.tsx'
import { Title } from './parts/title.tsx'
import type { ScreenProps } from './screen.ts'

/** The link is still unused, so another browser can open it. */
export function UnsupportedScreen({ view, texts: { t }, page }: ScreenProps): JSX.Element | null {
  if (view.state.at !== 'unsupported') return null
  const { why } = view.state
  return (
    <div class="screen">
      <Title>{t('unsupported.title')}</Title>
      <p class="lead">{why.kind === 'in_app' ? inAppText(why.app, t) : t('unsupported.browser')}</p>
      <p class="how">{t('unsupported.how')}</p>
      <div class="buttons buttons--close">
        <CopyLink link={page.link} look="main" t={t} />
      </div>
      <QrCode link={page.link} t={t} />
      <p class="small centred">{t('unsupported.scan')}</p>
    </div>
  )
}
