import { type OpenedSession, type UrlByLanguage, urlFor } from '@ostiary/contract'
import type { Links } from './view.ts'

/** The tenant's pages in a language. A server of the last release knows one of them, in the language of the session. */
export function linksIn(
  { links, alternativeUrl = null }: Pick<OpenedSession, 'links' | 'alternativeUrl'>,
  tag: string,
): Links {
  // Settings take https addresses only; a link must never run a script.
  const safe = (urls: UrlByLanguage | null): string | null => {
    const url = urlFor(urls, tag)
    return url?.startsWith('https://') ? url : null
  }
  if (!links) return { alternative: safe(alternativeUrl), privacy: null, support: null }
  return { alternative: safe(links.alternative), privacy: safe(links.privacy), support: safe(links.support) }
}
