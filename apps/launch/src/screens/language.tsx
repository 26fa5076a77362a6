import { LOCALES, reviewOf } from '@ostiary/contract/locales'
import type { JSX } from 'preact'
import { useState } from 'preact/hooks'
import { addStyle } from '../style/add-style.ts'
import styleUrl from '../style/language.css?url'
import { findLanguages, inOrderOfUse } from '../texts/find-language.ts'
import type { Texts } from '../texts/languages.ts'
import { Button } from './parts/button.tsx'
import { Dialog } from './parts/dialog.tsx'
import { Icon } from './parts/icons.tsx'

interface Props {
  texts: Texts
  onChoose(tag: string): void
  onClose(): void
}

export const addLanguageStyle = (): Promise<void> => addStyle(styleUrl)

/** All languages, by their own names, with a search. It is loaded when it is opened, because the names take a kilobyte. */
export function LanguageDialog({ texts: { t, tag: shown }, onChoose, onClose }: Props): JSX.Element {
  const [typed, setTyped] = useState('')
  const found = findLanguages(inOrderOfUse(LOCALES, navigator.languages, shown), typed, shown)
  return (
    <Dialog name="language" title={t('language.title')} onClose={onClose}>
      <input
        class="language-search"
        type="search"
        autocomplete="off"
        data-action="language-search"
        aria-label={t('language.search')}
        placeholder={t('language.search')}
        value={typed}
        onInput={({ currentTarget }) => setTyped(currentTarget.value)}
      />
      <p class={found.length === 0 ? 'small' : 'unseen'} role="status">
        {found.length === 0 ? t('language.none') : typed === '' ? '' : found.map(({ name }) => name).join(', ')}
      </p>
      <ul class="languages">
        {found.map(({ tag, name, english, direction }) => (
          <li key={tag}>
            <button
              type="button"
              data-language={tag}
              aria-current={tag === shown ? 'true' : undefined}
              onClick={() => onChoose(tag)}
            >
              {/* Only the words have their own direction: all names begin at the same side. */}
              <span>
                <bdi lang={tag} dir={direction}>
                  {name}
                </bdi>
              </span>
              {english !== name && (
                <span class="small">
                  <bdi lang="en" dir="ltr">
                    {english}
                  </bdi>
                </span>
              )}
              {tag === shown && <Icon name="check" size={18} />}
            </button>
          </li>
        ))}
      </ul>
      {reviewOf(shown) === 'machine_draft' && <p class="small">{t('language.draft')}</p>}
      <div class="buttons buttons--close">
        <Button action="close" look="main" onPress={onClose}>
          {t('language.close')}
        </Button>
      </div>
    </Dialog>
  )
}
