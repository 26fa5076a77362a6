export interface Check {
  name: string
  state: 'ok' | 'warning' | 'failed'
  finding: string
  /** What to do about it. */
  remedy?: string
}
