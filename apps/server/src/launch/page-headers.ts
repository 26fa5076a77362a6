/**
 * The HTTP headers of the launch page, where the end user is checked, and of all its files. docs/launch-page.md lists them for hosts that
 * serve the page themselves. tests/conformance/deploy.test.ts checks that the example in deploy/ sends the same headers.
 */

export interface PageUse {
  /** Origins whose pages may frame this one, or open it as a popup and receive its messages. */
  embedOrigins: readonly string[]
  /** Whether it was opened as a popup that reports its progress to its opener. */
  popup: boolean
}

/** For the document itself. Its session belongs to a tenant, and the tenant's settings say who may frame it. */
export function documentHeaders({ embedOrigins, popup }: PageUse): Record<string, string> {
  const isEmbeddable = embedOrigins.length > 0
  return {
    ...fileHeaders(),
    'content-security-policy': contentSecurityPolicy(embedOrigins),
    // A popup that may send messages to its opener is not cross-origin isolated, so the browser gives it no WebAssembly threads
    // (docs/decisions/0018-the-page-and-its-windows.md).
    'cross-origin-opener-policy': isEmbeddable && popup ? 'unsafe-none' : 'same-origin',
    // A host page that is cross-origin isolated can frame only documents that allow it with this header.
    'cross-origin-resource-policy': isEmbeddable ? 'cross-origin' : 'same-origin',
    'permissions-policy': PERMISSIONS_POLICY,
  }
}

/**
 * For every other file. All of them get the content security policy: a worker follows the one that came with its own script, not the
 * one of the document.
 */
export function fileHeaders(): Record<string, string> {
  return {
    'content-security-policy': contentSecurityPolicy([]),
    'cross-origin-embedder-policy': 'require-corp',
    'cross-origin-resource-policy': 'same-origin',
  }
}

function contentSecurityPolicy(frameAncestors: readonly string[]): string {
  const ancestors = frameAncestors.length > 0 ? frameAncestors.join(' ') : "'none'"
  return [...SOURCES, `frame-ancestors ${ancestors}`, ...TRUSTED_TYPES].join('; ')
}

/** The page loads from and connects to its own origin only: even a faulty or malicious script cannot send data anywhere else. */
const SOURCES = [
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

/** Only the two Trusted Types policies of apps/launch/src/trusted-urls.ts may turn a text into the URL of a script. */
const TRUSTED_TYPES = ['trusted-types ostiary default', "require-trusted-types-for 'script'"]

const PERMISSIONS_POLICY = [
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
