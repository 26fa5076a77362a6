import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { documentHeaders, fileHeaders } from './page-headers.ts'

const SHOP = 'https://shop.example'

/** A policy by its directives. */
function directivesOf(headers: Record<string, string>): Map<string, string> {
  const policy = headers['content-security-policy'] ?? ''
  return new Map(policy.split('; ').map((part) => [part.split(' ', 1)[0] ?? '', part.replace(/^\S+ ?/, '')]))
}

describe('the policy of the page', () => {
  test('lets it connect to its own origin only, and run only its own scripts', () => {
    const directives = directivesOf(documentHeaders({ embedOrigins: [], popup: false }))
    assert.equal(directives.get('default-src'), "'none'")
    assert.equal(directives.get('script-src'), "'self' 'wasm-unsafe-eval'")
    assert.equal(directives.get('connect-src'), "'self'")
    assert.equal(directives.get('require-trusted-types-for'), "'script'")
    for (const none of ['base-uri', 'form-action', 'object-src', 'frame-ancestors'])
      assert.equal(directives.get(none), "'none'", none)
    for (const [name, sources] of directives)
      assert.doesNotMatch(sources, /unsafe-inline|unsafe-eval'(?<!wasm-unsafe-eval')|https?:|\*/, name)
  })

  test('names the origins that may frame it, and has no other difference', () => {
    const alone = directivesOf(documentHeaders({ embedOrigins: [], popup: false }))
    const shared = directivesOf(documentHeaders({ embedOrigins: [SHOP, 'https://b.example'], popup: false }))
    assert.equal(shared.get('frame-ancestors'), `${SHOP} https://b.example`)
    const rest = (directives: Map<string, string>) => [...directives].filter(([name]) => name !== 'frame-ancestors')
    assert.deepEqual(rest(shared), rest(alone))
  })

  test('is sent with every other file as well, because a worker follows the policy of its own script', () => {
    const document = documentHeaders({ embedOrigins: [], popup: false })
    assert.equal(fileHeaders()['content-security-policy'], document['content-security-policy'])
    assert.equal(fileHeaders()['cross-origin-embedder-policy'], 'require-corp')
    assert.equal(fileHeaders()['cross-origin-resource-policy'], 'same-origin')
  })
})

describe('the page’s window', () => {
  const openerOf = (embedOrigins: string[], popup: boolean) =>
    documentHeaders({ embedOrigins, popup })['cross-origin-opener-policy']

  test('is isolated from its opener, unless the tenant lists origins and it is a popup', () => {
    assert.equal(openerOf([], false), 'same-origin')
    assert.equal(openerOf([], true), 'same-origin')
    assert.equal(openerOf([SHOP], false), 'same-origin')
    assert.equal(openerOf([SHOP], true), 'unsafe-none')
  })

  test('can be in a frame of an isolated page only when it may be framed at all', () => {
    const resourceOf = (embedOrigins: string[]) =>
      documentHeaders({ embedOrigins, popup: false })['cross-origin-resource-policy']
    assert.equal(resourceOf([]), 'same-origin')
    assert.equal(resourceOf([SHOP]), 'cross-origin')
  })

  test('may ask for the camera and passkeys, and not for microphone or location', () => {
    const permissions = documentHeaders({ embedOrigins: [], popup: false })['permissions-policy']?.split(', ') ?? []
    for (const allowed of ['camera=(self)', 'publickey-credentials-get=(self)'])
      assert.ok(permissions.includes(allowed), allowed)
    for (const denied of ['microphone=()', 'geolocation=()']) assert.ok(permissions.includes(denied), denied)
  })
})
