import { REQUIRED_CHECKS } from '@ostiary/contract/documents'
import type { DocumentFacts } from '@ostiary/device'
import { documentText } from '../texts/documents-texts.ts'
import type { Texts } from '../texts/languages.ts'
import type { DocumentView } from './document-types.ts'

/** One line of what is sent, in words. */
export interface SentValue {
  name: string
  label: string
  value: string
}

/** Everything that the sealed facts say, value by value. Session, step and log are in every call. */
export function sentValues(facts: DocumentFacts, step: DocumentView['step'], texts: Texts): SentValue[] {
  const t = documentText(texts)
  const { tag } = texts
  const whole = new Intl.NumberFormat(tag)
  const percent = new Intl.NumberFormat(tag, { style: 'percent', maximumFractionDigits: 1 })
  const hundredths = new Intl.NumberFormat(tag, { minimumFractionDigits: 2, maximumFractionDigits: 3 })
  const { type, format, age, expiry, match, frames, confidence, sides, hints, reuse } = facts
  const threshold = step?.age?.threshold
  const lines: (SentValue | false | undefined)[] = [
    { name: 'type', label: t('value.type'), value: t(`value.type.${type}`) },
    {
      name: 'format',
      label: t('value.format'),
      value: t(format === 'AAMVA' ? 'value.format.barcode' : 'value.format.lines', { name: format.replace('_', ' ') }),
    },
    age &&
      threshold !== undefined && {
        name: 'age',
        label: t('value.age', { threshold }),
        value: t(`value.age.${age.result}`, { threshold }),
      },
    age?.years !== undefined && { name: 'years', label: t('value.years'), value: whole.format(age.years) },
    { name: 'expiry', label: t('value.expiry'), value: t(`value.expiry.${expiry}`) },
    { name: 'checks', label: t('value.checks'), value: t(checksKey(facts)) },
    match && {
      name: 'match',
      label: t('value.match'),
      value: t(match.score / 1000 >= (step?.match?.threshold ?? 0) ? 'value.match.yes' : 'value.match.no', {
        score: hundredths.format(match.score / 1000),
      }),
    },
    { name: 'frames', label: t('value.frames'), value: t('value.frames.count', { count: frames }) },
    { name: 'confidence', label: t('value.confidence'), value: percent.format(confidence / 1000) },
    { name: 'sides', label: t('value.sides'), value: whole.format(sides) },
    {
      name: 'hints',
      label: t('value.hints'),
      value:
        hints.length === 0
          ? t('value.hints.none')
          : listOf(
              hints.map((hint) => t(`value.hint.${hint}`)),
              tag,
            ),
    },
    reuse !== undefined && { name: 'reuse', label: t('value.reuse'), value: t('value.reuse.text') },
    {
      name: 'consent',
      label: t('value.consent'),
      value: t('value.consent.text', { language: texts.name }),
    },
    facts.browser && { name: 'browser', label: t('value.browser'), value: t('value.browser.text') },
  ]
  return lines.filter((line) => typeof line === 'object')
}

function checksKey({ checks, format }: DocumentFacts): 'value.checks.none' | 'value.checks.all' | 'value.checks.some' {
  if (REQUIRED_CHECKS[format].length === 0) return 'value.checks.none'
  return Object.values(checks).includes(false) ? 'value.checks.some' : 'value.checks.all'
}

function listOf(items: readonly string[], tag: string): string {
  return new Intl.ListFormat(tag, { type: 'unit', style: 'short' }).format(items)
}
