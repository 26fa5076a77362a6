/**
 * The headers of the launch page and of all its files. docs/api/launch.md lists them for hosts that serve the page
 * themselves, and tests/conformance/deploy.test.ts holds the example in deploy/ to them.
 */

/** Names of the policies that the page's scripts may make (trusted-urls.ts). Empty: Trusted Types are not asked for. */
export const TRUSTED_TYPES: readonly string[] = ['ostiary', 'default']

export interface PageUse {
  /** Origins whose pages may frame this one, or open it as a popup and stay in touch. */
  embedOrigins: readonly string[]
  /** Whether it was opened as a popup that reports its progress to its opener. */
  popup: boolean
}

const ALONE: PageUse = { embedOrigins: [], popup: false }

/** For the document itself: who may frame it depends on the tenant whose session it is opened for. */
export function documentHeaders({ embedOrigins, popup }: PageUse): Record<string, string> {
  const isShared = embedOrigins.length > 0
  return {
    ...fileHeaders(),
    'content-security-policy': policyFor(embedOrigins),
    // A window that may talk to its opener cannot be isolated from it, so it runs without threads (decision 0018).
    'cross-origin-opener-policy': isShared && popup ? 'unsafe-none' : 'same-origin',
    // A host page that is isolated itself can frame only pages that allow it.
    'cross-origin-resource-policy': isShared ? 'cross-origin' : 'same-origin',
    'permissions-policy': PERMISSIONS,
  }
}

/** For every other file. A worker is bound by the policy that comes with its own script, not by the document's. */
export function fileHeaders(): Record<string, string> {
  return {
    'content-security-policy': policyFor(ALONE.embedOrigins),
    'cross-origin-embedder-policy': 'require-corp',
    'cross-origin-resource-policy': 'same-origin',
  }
}

function policyFor(embedOrigins: readonly string[]): string {
  const ancestors = embedOrigins.length > 0 ? embedOrigins.join(' ') : "'none'"
  const trustedTypes =
    TRUSTED_TYPES.length > 0 ? [`trusted-types ${TRUSTED_TYPES.join(' ')}`, "require-trusted-types-for 'script'"] : []
  return [...POLICY, `frame-ancestors ${ancestors}`, ...trustedTypes].join('; ')
}

/** Our own origin only: even a script with a fault cannot send data anywhere else. */
const POLICY = [
  "default-src 'none'",
  "script-src 'self' 'wasm-unsafe-eval'",
  "worker-src 'self'",
  "connect-src 'self'",
  "img-src 'self' blob: data:",
  "media-src 'self' blob:",
  "style-src 'self'",
  "font-src 'self'",
  "manifest-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "object-src 'none'",
]

const PERMISSIONS = [
  'camera=(self)',
  'publickey-credentials-create=(self)',
  'publickey-credentials-get=(self)',
  'screen-wake-lock=(self)',
  'microphone=()',
  'geolocation=()',
  'display-capture=()',
  'payment=()',
  'usb=()',
].join(', ')
