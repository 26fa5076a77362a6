import Type from 'typebox'
import { LOCALE_REVIEWS, LOCALES } from './locales.ts'
import { type Operation, operation } from './operation.ts'

export const LanguageList = Type.Object(
  {
    default: Type.String({ description: 'What is used when nothing that was asked for exists' }),
    items: Type.Array(
      Type.Object(
        {
          tag: Type.Enum(LOCALES.map(({ tag }) => tag)),
          name: Type.String({ description: 'The language’s own name' }),
          english: Type.String(),
          direction: Type.Enum(['ltr', 'rtl']),
          available: Type.Boolean({ description: 'Whether the page has texts; where not, it shows English' }),
          review: Type.Union([Type.Enum([...LOCALE_REVIEWS]), Type.Null()], {
            description: '`machine_draft` until a native speaker has read all texts; null where there are none',
          }),
        },
        { title: 'Language' },
      ),
    ),
  },
  { title: 'LanguageList' },
)
export type LanguageList = Type.Static<typeof LanguageList>

export const listLocales = operation({
  operationId: 'listLocales',
  area: 'C',
  method: 'GET',
  path: '/v2/locales',
  summary: 'List the languages of the launch page',
  description:
    'Extension: every language that `locale` may name, with what the page has of it. May be cached for an hour.',
  auth: 'none',
  success: { 200: { description: 'The languages', schema: LanguageList } },
  errors: [],
})

export const LOCALE_OPERATIONS: readonly Operation[] = [listLocales]
