/**
 * Trusted Types: the browser starts a worker only from a URL that a policy of ours has allowed. In a browser without Trusted
 * Types the URL stays a string. Declared here because Node's types do not include them.
 */
interface TrustedTypePolicies {
  createPolicy(name: string, rules: { createScriptURL(url: string): string }): { createScriptURL(url: string): string }
}

declare global {
  var trustedTypes: TrustedTypePolicies | undefined
}

let ownOrigin: { createScriptURL(url: string): string } | undefined

/** A URL on the page's own origin, for `new Worker` and the service worker. */
export function trustedScriptUrl(url: string): string {
  ownOrigin ??= globalThis.trustedTypes?.createPolicy('ostiary', { createScriptURL: sameOrigin }) ?? {
    createScriptURL: sameOrigin,
  }
  return ownOrigin.createScriptURL(url)
}

function sameOrigin(url: string): string {
  if (new URL(url, location.href).origin !== location.origin) throw new TypeError(`Not our own: ${url}`)
  return url
}

/** Lets the runtime, which starts its threads itself, use this one URL. */
export function trustWorkerUrls(loaderUrl: string): void {
  globalThis.trustedTypes?.createPolicy('default', {
    createScriptURL(url) {
      if (url !== loaderUrl) throw new TypeError(`Not the runtime's loader: ${url}`)
      return url
    },
  })
}
