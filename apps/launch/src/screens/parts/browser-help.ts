import type { TextKey } from '../../texts/translate.ts'

/** How to allow the camera in this browser: its own way first. Names of menus change; the place to look does not. */
export function allowHelp(userAgent: string): TextKey[] {
  const found = HELP.find(({ pattern }) => pattern.test(userAgent))
  return [found?.help ?? 'allow.other', 'allow.system']
}

/** The order counts: Chrome names Safari too, and every browser of an iPhone is asked by the system's rules. */
const HELP: readonly { pattern: RegExp; help: TextKey }[] = [
  { pattern: /\b(?:iPhone|iPad|iPod)\b.*\bVersion\/.*\bSafari\//, help: 'allow.safariIos' },
  { pattern: /\b(?:iPhone|iPad|iPod)\b/, help: 'allow.other' },
  { pattern: /\bFirefox\//, help: 'allow.firefox' },
  { pattern: /\bAndroid\b.*\bChrome\//, help: 'allow.chromeAndroid' },
  { pattern: /\bChrome\//, help: 'allow.chrome' },
  { pattern: /\bVersion\/.*\bSafari\//, help: 'allow.safari' },
]
