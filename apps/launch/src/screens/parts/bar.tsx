import type { Brand } from '@ostiary/contract'
import type { JSX } from 'preact'
import type { Languages, Texts } from '../../texts/languages.ts'
import { Icon } from './icons.tsx'

interface Props {
  brand: Brand | null
  /** In place of the tenant's name. */
  title: string
  isTest: boolean
  texts: Texts
  languages: Languages['available']
  onLanguage(tag: string): void
}

/** The tenant's name and the language menu. */
export function Bar({ brand, title, isTest, texts, languages, onLanguage }: Props): JSX.Element {
  const { t, tag } = texts
  return (
    <header class="bar">
      <div class="bar__brand">
        {brand?.logo ? <img class="bar__logo" src={brand.logo} alt="" /> : <Mark />}
        <span>{brand?.name ?? title}</span>
      </div>
      {isTest && <span class="bar__test">{t('app.test')}</span>}
      <div class="language">
        <Icon name="globe" size={18} />
        <select
          aria-label={t('app.language')}
          data-action="language"
          value={tag}
          onChange={({ currentTarget }) => onLanguage(currentTarget.value)}
        >
          {languages.map((locale) => (
            <option key={locale.tag} value={locale.tag} lang={locale.tag}>
              {locale.name}
            </option>
          ))}
        </select>
        <Icon name="chevron" size={14} />
      </div>
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
