import type english from './en.json'

/** The texts of a language. English defines the keys; a test checks that the others are complete. */
export type Messages = { readonly [K in TextKey]: Text }
export type TextKey = keyof typeof english
/**
 * A plain text, or one for each plural form of the language. Placeholders stand in braces: `{name}` is a value, `{kb:2}` a constant
 * that is written with the language's own digits and unit.
 */
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
    return text.replaceAll(PLACEHOLDER, (whole, name: string, constant?: string) => {
      if (constant !== undefined) return constantText(name, Number(constant), tag)
      const value = values[name]
      return value === undefined ? whole : written(value)
    })
  }
}

const PLACEHOLDER = /\{(\w+)(?::(\d+))?\}/g

/** The units of constants, by their short names in placeholders. `n` is a number without a unit. */
const UNITS: Readonly<Record<string, Intl.NumberFormatOptions>> = {
  n: {},
  s: { style: 'unit', unit: 'second', unitDisplay: 'long' },
  h: { style: 'unit', unit: 'hour', unitDisplay: 'long' },
  kb: { style: 'unit', unit: 'kilobyte', unitDisplay: 'short' },
  cm: { style: 'unit', unit: 'centimeter', unitDisplay: 'short' },
}

function constantText(unit: string, value: number, tag: string): string {
  const options = UNITS[unit]
  if (!options) throw new Error(`The texts for ${tag} use an unknown unit: ${unit}`)
  return new Intl.NumberFormat(tag, options).format(value)
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

/** The sorted placeholders of a text, constants included, for the test of completeness. */
export function placeholdersOf(text: string): string[] {
  return [...text.matchAll(PLACEHOLDER)].map(([whole]) => whole.slice(1, -1)).sort()
}

/** Those that need a value. */
export function valuesOf(text: string): string[] {
  return placeholdersOf(text).filter((name) => !name.includes(':'))
}
