import type english from './en.json'

/** The texts of a language. English defines the keys; a test checks that the others are complete. */
export type Messages = { readonly [K in TextKey]: Text }
export type TextKey = keyof typeof english
/** A plain text, or one for each plural form of the language. Placeholders stand in braces. */
export type Text = string | Readonly<Partial<Record<Intl.LDMLPluralRule, string>>>

/** Values for placeholders. `count` also chooses the plural form. */
export type Values = Readonly<Record<string, string | number>>
export type Translate = (key: TextKey, values?: Values) => string

export function createTranslate<Key extends string = TextKey>(
  messages: Readonly<Record<Key, Text>>,
  { tag, direction }: Language,
): (key: Key, values?: Values) => string {
  const plurals = new Intl.PluralRules(tag)
  const numbers = new Intl.NumberFormat(tag)
  const written = (value: string | number) =>
    typeof value === 'number' ? numbers.format(value) : direction === 'rtl' ? isolated(value) : value

  return (key, values = {}) => {
    const message = messages[key]
    const text = typeof message === 'string' ? message : formOf(message, plurals, values.count)
    return text.replaceAll(/\{(\w+)\}/g, (whole, name: string) => {
      const value = values[name]
      return value === undefined ? whole : written(value)
    })
  }
}

export interface Language {
  tag: string
  direction: 'ltr' | 'rtl'
}

function formOf(forms: Exclude<Text, string>, plurals: Intl.PluralRules, count: string | number | undefined): string {
  return forms[plurals.select(Number(count ?? 0))] ?? forms.other ?? ''
}

/** Isolates a value, so that a Latin name keeps its direction inside a right-to-left text. */
function isolated(value: string): string {
  return `\u2068${value}\u2069`
}

/** The sorted placeholders of a text, for the test of completeness. */
export function placeholdersOf(text: string): string[] {
  return [...text.matchAll(/\{(\w+)\}/g)].map((match) => match[1] ?? '').sort()
}
