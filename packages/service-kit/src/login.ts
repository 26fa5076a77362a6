/** Where the database of a cell is, and with which role and password. */
export interface DatabaseUrls {
  url: string
  /** PostgreSQL itself, when `url` leads to a pooler. */
  directUrl?: string | undefined
}

/**
 * Role and password of `fresh` for the same database. Nothing else of a URL is taken while a process runs: it would be half here and half
 * there. Undefined when they are as before.
 */
export function takeLogin(now: DatabaseUrls, fresh: DatabaseUrls): DatabaseUrls | undefined {
  const next = {
    url: withLoginOf(now.url, fresh.url),
    directUrl: now.directUrl && fresh.directUrl ? withLoginOf(now.directUrl, fresh.directUrl) : now.directUrl,
  }
  return next.url === now.url && next.directUrl === now.directUrl ? undefined : next
}

function withLoginOf(now: string, fresh: string): string {
  // A socket's URL, or a password that is not encoded.
  if (!URL.canParse(now) || !URL.canParse(fresh)) return now
  const [url, other] = [new URL(now), new URL(fresh)]
  const isSame = url.host === other.host && url.pathname === other.pathname
  if (!isSame || (url.username === other.username && url.password === other.password)) return now
  return Object.assign(url, { username: other.username, password: other.password }).href
}
