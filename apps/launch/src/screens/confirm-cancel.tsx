import type { JSX } from 'preact'
import type { Texts } from '../texts/languages.ts'
import { Button } from './parts/button.tsx'
import { Dialog } from './parts/dialog.tsx'

interface Props {
  texts: Texts
  onConfirm(): void
  onClose(): void
}

/** Cancelling cannot be undone, so the page asks again; "go back" is the first button. */
export function ConfirmCancelDialog({ texts: { t }, onConfirm, onClose }: Props): JSX.Element {
  return (
    <Dialog name="cancel" title={t('cancel.title')} onClose={onClose}>
      <p class="lead">{t('cancel.text')}</p>
      <div class="buttons">
        <Button action="cancel-keep" look="main" onPress={onClose}>
          {t('cancel.keep')}
        </Button>
        <Button action="cancel-confirm" look="alert" onPress={onConfirm}>
          {t('cancel.confirm')}
        </Button>
      </div>
    </Dialog>
  )
}
