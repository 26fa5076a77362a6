import type { TextKey } from '../../texts/translate.ts'

/** How to allow the camera in this browser. Menu names change; their place does not. */
export function allowHelp(userAgent: string): TextKey[] {
  const found = HELP.find(({ pattern }) => pattern.test(userAgent))
  return [found?.help ?? 'allow.other', 'allow.system']
}

/** The order matters: Chrome's user agent contains Safari too, and every browser on an iPhone follows the system's rules. */
const HELP: readonly { pattern: RegExp; help: TextKey }[] = [
  { pattern: /\b(?:iPhone|iPad|iPod)\b.*\bVersion\/.*\bSafari\//, help: 'allow.safariIos' },
  { pattern: /\b(?:iPhone|iPad|iPod)\b/, help: 'allow.other' },
  { pattern: /\bFirefox\//, help: 'allow.firefox' },
  { pattern: /\bAndroid\b.*\bChrome\//, help: 'allow.chromeAndroid' },
  { pattern: /\bChrome\//, help: 'allow.chrome' },
  { pattern: /\bVersion\/.*\bSafari\//, help: 'allow.safari' },
]
