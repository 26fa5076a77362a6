import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { lacksRedirectList, redirectEntryProblem, redirectProblem, withParameters } from './redirects.ts'

const problemOf = (url: string, redirectUrls: readonly string[], livemode: boolean) =>
  redirectProblem(url, { redirectUrls: [...redirectUrls] }, livemode)
const isAllowedRedirect = (...given: Parameters<typeof problemOf>) => problemOf(...given) === undefined

describe('a redirect', () => {
  test('goes to any https URL where there is no list', () => {
    assert.equal(isAllowedRedirect('https://shop.example/back?a=b#c', [], true), true)
    assert.equal(isAllowedRedirect('https://shop.example:8443', [], true), true)
    assert.equal(isAllowedRedirect('http://shop.example/back', [], true), false)
    assert.equal(isAllowedRedirect('http://shop.example/back', [], false), false)
  })

  test('goes to this machine without encryption only in test mode, or where the list says so', () => {
    for (const url of ['http://localhost:3000/back', 'http://127.0.0.1/', 'http://[::1]:8080/']) {
      assert.equal(isAllowedRedirect(url, [], false), true, url)
      assert.equal(isAllowedRedirect(url, [], true), false, url)
      assert.equal(isAllowedRedirect(url, [new URL(url).origin], true), true, url)
    }
    assert.equal(isAllowedRedirect('http://localhost.evil.example/', [], false), false)
    assert.equal(isAllowedRedirect('http://localhost:3000/', ['https://localhost:3000'], false), false)
  })

  test('stays at or below an entry of the list', () => {
    const allowed = ['https://shop.example/age', 'https://bar.example', 'https://pub.example/done/']
    for (const url of [
      'https://shop.example/age',
      'https://shop.example/age?session=1',
      'https://shop.example/age/done',
      'https://SHOP.example/age/x/../y',
      'https://shop.example:443/age',
      'https://bar.example',
      'https://bar.example/anything?at=all',
      'https://shop.example/age/a;b=c/v1.0;d',
      'https://shop.example/age/?to=..;/',
      'https://pub.example/done/',
      'https://pub.example/done/1',
    ]) {
      assert.equal(isAllowedRedirect(url, allowed, true), true, url)
    }
    for (const url of [
      'https://shop.example/',
      'https://shop.example/agency',
      'https://shop.example/Age',
      'https://shop.example/age/../admin',
      'https://shop.example/age/%2e%2e/admin',
      'https://shop.example/age/..%2fadmin',
      'https://shop.example/age/..%5Cadmin',
      'https://shop.example/age/..;/admin',
      'https://shop.example/age/..;a=b/admin',
      'https://shop.example/age/.;/..;/admin',
      'https://shop.example/age/%2e%2e;/admin',
      'https://shop.example/age/..%3B/admin',
      'https://shop.example/age/x/..;',
      'https://shop.example:8443/age',
      'http://shop.example/age',
      'https://shop.example.evil.example/age',
      'https://evil.example/https://shop.example/age',
      'https://bar.example.evil.example',
      'https://bar.example@evil.example/',
      'https://evil.example#@bar.example',
      'https://pub.example/done',
    ]) {
      assert.equal(isAllowedRedirect(url, allowed, true), false, url)
      assert.equal(isAllowedRedirect(url, allowed, false), false, url)
    }
  })

  test('is refused when it is no plain web address, list or not', () => {
    for (const url of [
      '',
      'shop.example',
      '//shop.example',
      '/back',
      'https:shop.example',
      'https:///shop.example',
      'https://',
      'javascript:alert(1)',
      'data:text/html,x',
      'ftp://shop.example',
      'https://user:secret@shop.example',
      'https://user@shop.example',
      'https:\\\\shop.example',
      'https://shop.example\\@evil.example',
      'https://shop.example/\n',
      'https://shop.example/a b',
      ' https://shop.example/',
      'https://shöp.example/',
      `https://shop.example/${'a'.repeat(2_048)}`,
    ]) {
      assert.equal(isAllowedRedirect(url, [], false), false, JSON.stringify(url))
      assert.equal(isAllowedRedirect(url, ['https://shop.example'], false), false, JSON.stringify(url))
    }
  })
})

test('a refusal says which of the reasons it is', () => {
  const scheme = 'must begin with https://; http is for localhost, 127.0.0.1 and [::1] only'
  const liveScheme = 'must begin with https://; http is for test keys, and for what the tenant’s redirectUrls allow'
  const form = 'must be a URL such as https://host.example/path'
  const ascii = 'must be of printable ASCII without spaces and backslashes; percent-encode the rest'
  for (const [url, problem] of [
    ['http://shop.example/', scheme],
    ['javascript:alert(1)', scheme],
    ['/back', scheme],
    ['https:shop.example', form],
    ['https:///shop.example', form],
    ['https://shop.example:99999/', form],
    ['https://u:p@shop.example', 'must not hold a user name or password'],
    ['https://shop.example/a b', ascii],
    ['https://shop.example\\@evil.example', ascii],
    [`https://shop.example/${'a'.repeat(2_048)}`, 'must have at most 2048 characters'],
  ] as const)
    assert.equal(problemOf(url, [], false), problem, url)
  assert.equal(problemOf('http://localhost:3000/', [], true), liveScheme)
  assert.equal(problemOf('http://shop.example/', [], true), liveScheme)
  const unlisted = 'is neither at nor below a URL that this tenant allows (its setting redirectUrls)'
  assert.equal(problemOf('https://other.example/', ['https://shop.example'], true), unlisted)
  assert.equal(problemOf('http://localhost:3000/', ['https://shop.example'], false), unlisted)
})

test('a tenant that requires a list and has none refuses every redirect; with a list the list decides', () => {
  const required = (redirectUrls: string[]) => ({ redirectUrls, redirectListRequired: true })
  for (const livemode of [true, false]) {
    assert.match(redirectProblem('https://shop.example/', required([]), livemode) ?? '', /redirectListRequired/)
    assert.equal(redirectProblem('https://shop.example/', required(['https://shop.example']), livemode), undefined)
  }
  assert.match(redirectProblem('http://localhost/', required([]), false) ?? '', /redirectListRequired/)
  assert.equal(lacksRedirectList({ redirectUrls: [] }, true), true)
  assert.equal(lacksRedirectList({ redirectUrls: [] }, false), false)
  assert.equal(lacksRedirectList({ redirectUrls: ['https://shop.example'] }, true), false)
})

test('an entry of the list says plainly what it allows', () => {
  for (const entry of [
    'https://shop.example',
    'https://shop.example/',
    'https://shop.example:8443/age',
    'http://localhost:3000',
  ]) {
    assert.equal(redirectEntryProblem(entry), undefined, entry)
  }
  const wrong = {
    'http://shop.example': 'must be an https URL; http is for localhost only',
    'myapp://back': 'must be an https URL; http is for localhost only',
    'https://*.example/': 'must name one place: there are no wildcards',
    'https://shop.example/?a=b': 'must have no query and no fragment',
    'https://shop.example/?': 'must have no query and no fragment',
    'https://shop.example/#a': 'must have no query and no fragment',
    'https://Shop.example/': 'must be written as https://shop.example/',
    'https://shop.example:443/': 'must be written as https://shop.example/',
    'https://shop.example/a/../b': 'must be written as https://shop.example/b',
  }
  for (const [entry, message] of Object.entries(wrong)) assert.equal(redirectEntryProblem(entry), message, entry)
})

test('parameters are added to what the host put there, and stand in the place of forged ones', () => {
  const added = { sessionId: 's-1', status: 'SUCCESS' }
  for (const [url, expected] of [
    ['https://shop.example/back', 'https://shop.example/back?sessionId=s-1&status=SUCCESS'],
    ['https://shop.example/back?x=%C3%A9#top', 'https://shop.example/back?x=%C3%A9&sessionId=s-1&status=SUCCESS#top'],
    ['https://shop.example/?status=A&a=1&status=B', 'https://shop.example/?a=1&sessionId=s-1&status=SUCCESS'],
  ] as const)
    assert.equal(withParameters(url, added), expected)
})
