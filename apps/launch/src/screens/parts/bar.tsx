import type { Brand } from '@ostiary/contract'
import type { JSX } from 'preact'
import type { Texts } from '../../texts/languages.ts'
import { Icon } from './icons.tsx'

interface Props {
  brand: Brand | null
  /** In place of the tenant's name. */
  title: string
  isTest: boolean
  texts: Texts
  /** Opens the list of languages. */
  onLanguage(): void
}

/** The tenant's name, and the language. */
export function Bar({ brand, title, isTest, texts, onLanguage }: Props): JSX.Element {
  const { t } = texts
  return (
    <header class="bar">
      <div class="bar__brand">
        {brand?.logo ? <img class="bar__logo" src={brand.logo} alt="" /> : <Mark />}
        <span>{brand?.name ?? title}</span>
      </div>
      {isTest && <span class="bar__test">{t('app.test')}</span>}
      <button type="button" class="language" data-action="language" aria-haspopup="dialog" onClick={onLanguage}>
        <Icon name="globe" size={18} />
        <span class="unseen">{t('app.language')}: </span>
        <span class="language__name">{texts.name}</span>
        <Icon name="chevron" size={14} />
      </button>
    </header>
  )
}

/** A door in an oval: an ostiary is a doorkeeper. */
function Mark(): JSX.Element {
  return (
    <svg
      class="bar__mark"
      width="22"
      height="28"
      viewBox="0 0 22 28"
      fill="none"
      stroke="currentColor"
      stroke-width="1.75"
      aria-hidden="true"
    >
      <ellipse cx="11" cy="14" rx="9.5" ry="12.5" />
      <path d="M7.5 20.5v-8a3.5 3.5 0 0 1 7 0v8z" fill="currentColor" stroke="none" />
    </svg>
  )
}
