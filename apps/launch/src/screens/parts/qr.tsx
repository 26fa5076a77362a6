import type { JSX } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import type { Translate } from '../../texts/translate.ts'
import { qrPath } from './qr-path.ts'

type Encode = typeof import('uqr').encode

/** The link as a QR code; null until it is ready. The encoder is loaded with the first code. */
export function QrCode({ link, t }: { link: string | null; t: Translate }): JSX.Element {
  const [encode, setEncode] = useState<{ it: Encode } | null>(null)
  useEffect(() => {
    import('uqr').then(({ encode: it }) => setEncode({ it }))
  }, [])
  const code = link !== null && encode ? encode.it(link, { ecc: 'M', border: 0 }) : null
  return (
    <div class="qr">
      {code ? (
        <svg
          viewBox={`0 0 ${code.size} ${code.size}`}
          role="img"
          aria-label={t('qr.label')}
          shape-rendering="crispEdges"
        >
          <path d={qrPath(code.data)} />
        </svg>
      ) : (
        <p class="qr__wait">{t('handoff.making')}</p>
      )}
    </div>
  )
}
