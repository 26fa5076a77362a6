import { CONFIG_WARNINGS, type ConfigWarningCode } from '@ostiary/contract/config-warnings'

/** What the service says about a call that it accepted: it will disappoint. */
export interface ConfigWarning {
  /** A newer service may send codes that this version does not know. */
  code: ConfigWarningCode
  /** What it is about, where the code alone does not say it: the name of the ignored field. */
  subject?: string
  /** What it means, in words. */
  message: string
}

/** The result of a call that creates something, with the warnings of the service about it. Usually there are none. */
export type Created<T> = T & {
  /** What the service warns of; usually nothing. */
  readonly warnings: readonly ConfigWarning[]
}

/** Reads `X-Config-Warning`: `estimate-without-buffer, ignored-field: livenessEnabled`. */
export function warningsIn(header: string | null): ConfigWarning[] {
  const entries = (header ?? '').split(',').map((entry) => entry.trim())
  return entries.filter((entry) => entry !== '').map(toWarning)
}

function toWarning(entry: string): ConfigWarning {
  const [name = '', subject] = entry.split(/:\s*/, 2)
  const code = name as ConfigWarningCode
  const meaning: string | undefined = CONFIG_WARNINGS[code]
  const message = [entry, meaning].filter((part) => part !== undefined).join(': ')
  return { code, ...(subject !== undefined && { subject }), message }
}
