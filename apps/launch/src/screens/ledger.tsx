import type { JSX } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import { Button } from './parts/button.tsx'
import { Dialog } from './parts/dialog.tsx'
import { bytesOf, sizeText, sumsOf } from './parts/ledger-sums.ts'
import type { PageFacts, ScreenProps } from './screen.ts'

/** Everything that left the device: a summary, then every request with its bytes. */
export function LedgerDialog({
  texts,
  page,
  more,
  onClose,
}: Pick<ScreenProps, 'texts' | 'page' | 'more'> & { onClose(): void }): JSX.Element {
  const { t, tag } = texts
  const entries = useEntries(page.ledger)
  const digest = useDigest(page)
  return (
    <Dialog name="ledger" title={t('ledger.title')} onClose={onClose}>
      <p class="lead">{t('ledger.text')}</p>
      <dl class="sums">
        {sumsOf(entries).map(({ kind, requests, bytesOut }) => (
          <div key={kind}>
            <dt>{t(`ledger.${kind}`)}</dt>
            <dd class="sums__size">
              {t('ledger.times', { count: requests })} · {bytesOut > 0 ? sizeText(bytesOut, tag) : t('ledger.nothing')}
            </dd>
            <dd class="sums__text">{t(`ledger.${kind}Text`)}</dd>
          </div>
        ))}
        {more}
        {digest && (
          <div>
            <dt>{t('ledger.digest')}</dt>
            <dd class="sums__text sums__digest" data-digest>
              {digest}
            </dd>
            <dd class="sums__text">{t('ledger.digestText')}</dd>
          </div>
        )}
      </dl>
      <details class="requests">
        <summary>{t('ledger.all')}</summary>
        {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard. */}
        <section class="requests__scroll" tabIndex={0} aria-label={t('ledger.all')}>
          <table>
            <thead>
              <tr>
                <th scope="col">{t('ledger.what')}</th>
                <th scope="col">{t('ledger.address')}</th>
                <th scope="col">{t('ledger.size')}</th>
              </tr>
            </thead>
            <tbody>
              {entries.map(({ atMs, method, path, bytesOut, kind }, index) => (
                <tr
                  key={`${index} ${atMs}`}
                  data-ledger-row
                  data-method={method}
                  data-path={path}
                  data-bytes={bytesOut}
                  data-kind={kind}
                >
                  <td>{t(`ledger.${kind}`)}</td>
                  <td>
                    {method} {path}
                  </td>
                  <td>{sizeText(bytesOut, tag)}</td>
                </tr>
              ))}
            </tbody>
          </table>
        </section>
      </details>
      <p class="small">{t('ledger.sum', { count: entries.length, size: sizeText(bytesOf(entries), tag) })}</p>
      <div class="buttons">
        <Button action="close" look="main" onPress={onClose}>
          {t('ledger.close')}
        </Button>
      </div>
    </Dialog>
  )
}

function useEntries(ledger: PageFacts['ledger']) {
  const [entries, setEntries] = useState([...ledger.entries()])
  useEffect(() => ledger.onChange(() => setEntries([...ledger.entries()])), [ledger])
  return entries
}

function useDigest({ digest }: PageFacts) {
  const [shown, setShown] = useState<string | null>(null)
  // Without a connection the dialog does without it.
  useEffect(() => void digest().then(setShown, () => {}), [])
  return shown
}
