import type { Translate } from '../../texts/translate.ts'

/** Why the check may not work inside an app's built-in browser. The app's name may be unknown. */
export function inAppText(app: string | null, t: Translate): string {
  return app === null ? t('unsupported.someApp') : t('unsupported.app', { app })
}
