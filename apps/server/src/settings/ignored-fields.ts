import { IGNORED_FIELDS } from '@ostiary/contract'

/** The warnings for fields of a create body that are taken but have no effect here. */
export function ignoredFieldWarnings(body: object): string[] {
  return IGNORED_FIELDS.filter((name) => Object.hasOwn(body, name)).map((name) => `ignored-field: ${name}`)
}
