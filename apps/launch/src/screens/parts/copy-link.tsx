import type { JSX } from 'preact'
import { useState } from 'preact/hooks'
import type { Translate } from '../../texts/translate.ts'
import { Button } from './button.tsx'
import { Icon } from './icons.tsx'

/** Copies a link, or shows it for copying by hand if the browser refuses. */
export function CopyLink({ link, look, t }: { link: string; look: 'main' | 'soft'; t: Translate }): JSX.Element {
  const [outcome, setOutcome] = useState<'none' | 'copied' | 'refused'>('none')
  const copy = async () => {
    try {
      await navigator.clipboard.writeText(link)
      setOutcome('copied')
    } catch {
      setOutcome('refused')
    }
  }
  return (
    <>
      <Button action="copy-link" look={look} onPress={copy}>
        <Icon name={outcome === 'copied' ? 'check' : 'copy'} size={20} />
        {t(outcome === 'copied' ? 'copy.done' : 'copy.link')}
      </Button>
      <p class="unseen" role="status">
        {outcome === 'copied' ? t('copy.done') : ''}
      </p>
      {outcome === 'refused' && (
        <div>
          <p class="small">{t('copy.failed')}</p>
          <p class="link-text" dir="ltr">
            {link}
          </p>
        </div>
      )}
    </>
  )
}
