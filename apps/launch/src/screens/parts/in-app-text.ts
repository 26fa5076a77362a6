import type { Translate } from '../../texts/translate.ts'

/** Why it may not work here, for a page that is open inside an app whose name may not be known. */
export function inAppText(app: string | null, t: Translate): string {
  return app === null ? t('unsupported.someApp') : t('unsupported.app', { app })
}
