import assert from 'node:assert/strict'
import { afterEach, test } from 'node:test'
import type * as trustedUrls from './trusted-urls.ts'

type Rules = { createScriptURL(url: string): string }

/** A fresh copy of the module, in a browser with or without Trusted Types. */
async function inBrowser(hasTrustedTypes: boolean) {
  const policies = new Map<string, Rules>()
  const trustedTypes = {
    createPolicy(name: string, rules: Rules) {
      policies.set(name, rules)
      return { createScriptURL: (url: string) => `trusted ${rules.createScriptURL(url)}` }
    },
  }
  Object.assign(globalThis, {
    location: new URL('https://check.example/launch/'),
    trustedTypes: hasTrustedTypes ? trustedTypes : undefined,
  })
  copies += 1
  const { trustedScriptUrl, trustWorkerUrls }: typeof trustedUrls = await import(`./trusted-urls.ts?copy=${copies}`)
  return { policies, trustedScriptUrl, trustWorkerUrls }
}
let copies = 0

afterEach(() => {
  Reflect.deleteProperty(globalThis, 'location')
  Reflect.deleteProperty(globalThis, 'trustedTypes')
})

for (const hasTrustedTypes of [true, false]) {
  test(`only our own origin is trusted, ${hasTrustedTypes ? 'with' : 'without'} Trusted Types`, async () => {
    const { trustedScriptUrl } = await inBrowser(hasTrustedTypes)
    const mark = hasTrustedTypes ? 'trusted ' : ''
    assert.equal(trustedScriptUrl('https://check.example/x.js'), `${mark}https://check.example/x.js`)
    assert.equal(trustedScriptUrl('assets/x.js'), `${mark}assets/x.js`)
    for (const url of ['https://else.example/x.js', '//else.example/x.js', 'data:text/javascript,1', 'blob:null/1'])
      assert.throws(() => trustedScriptUrl(url), TypeError)
  })
}

test('the policy is created once', async () => {
  const { policies, trustedScriptUrl } = await inBrowser(true)
  trustedScriptUrl('a.js')
  policies.clear()
  trustedScriptUrl('b.js')
  assert.equal(policies.size, 0)
})

test('the runtime may start threads from its own loader only', async () => {
  const { policies, trustWorkerUrls } = await inBrowser(true)
  trustWorkerUrls('https://check.example/launch/ort/loader.mjs')
  const rules = policies.get('default')
  assert.equal(rules?.createScriptURL('https://check.example/launch/ort/loader.mjs').endsWith('loader.mjs'), true)
  assert.throws(() => rules?.createScriptURL('https://check.example/launch/other.mjs'), TypeError)
})
