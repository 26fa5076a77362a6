/**
 * What `npm run dev` sets where nothing else is said. Callbacks to this machine are let through, because a developer's own
 * receiver runs there; an installation for others has no such setting and calls public addresses only.
 */
export function withDevDefaults(given: Readonly<Record<string, string>>): Record<string, string> {
  return {
    PUBLIC_URL: `http://localhost:${given.PORT ?? 8080}`,
    OUTBOUND_ALLOW_NETWORKS: '127.0.0.0/8',
    ...given,
  }
}
