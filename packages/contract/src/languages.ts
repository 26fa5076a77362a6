import Type from 'typebox'
import { LOCALE_TAGS } from './locale-tags.ts'
import { LOCALE_REVIEWS } from './locales.ts'
import { type Operation, operation } from './operation.ts'

export const LanguageList = Type.Object(
  {
    default: Type.String({ description: 'What is used when nothing that was asked for exists' }),
    items: Type.Array(
      Type.Object(
        {
          tag: Type.Enum([...LOCALE_TAGS], { description: 'BCP 47' }),
          name: Type.String({ description: 'The language’s own name' }),
          english: Type.String({ description: 'Its name in English' }),
          direction: Type.Enum(['ltr', 'rtl'], { description: 'In which it is written' }),
          available: Type.Boolean({ description: 'Always true: the page has texts in every language' }),
          review: Type.Enum([...LOCALE_REVIEWS], {
            description: '`machine_draft` until a native speaker has read all texts',
          }),
        },
        { title: 'Language' },
      ),
      { description: 'All languages of the page' },
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
    'Extension: every language that `locale` may name, and who has read its texts. May be cached for an hour.',
  auth: 'none',
  success: { 200: { description: 'The languages', schema: LanguageList } },
  errors: [],
})

export const LOCALE_OPERATIONS: readonly Operation[] = [listLocales]
