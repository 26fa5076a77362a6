/**
 * A link that takes a page out of an app's built-in browser into the device's own one; null where no system has such a link. It may do nothing
 * in some apps, so copying the link stays the main way. An intent's own part begins at the last "#", so the link keeps its code.
 */
export function openInBrowserLink(link: string, userAgent: string): string | null {
  if (!link.startsWith('https://')) return null
  if (/\bAndroid\b/.test(userAgent)) return `${link.replace('https:', 'intent:')}#Intent;scheme=https;end`
  if (/\b(?:iPhone|iPad|iPod)\b/.test(userAgent)) return `x-safari-${link}`
  return null
}
