import assert from 'node:assert/strict'
import { test } from 'node:test'
import { urlFor } from './links.ts'

test('one address is for every language', () => {
  assert.equal(urlFor('https://a.example', 'de'), 'https://a.example')
  assert.equal(urlFor(null, 'de'), null)
})

test('of several, the language’s own comes first, then its main language, then the default', () => {
  const urls = { default: 'https://a.example', pt: 'https://a.example/pt', 'zh-Hant': 'https://a.example/tw' }
  assert.equal(urlFor(urls, 'pt'), 'https://a.example/pt')
  assert.equal(urlFor(urls, 'pt-BR'), 'https://a.example/pt')
  assert.equal(urlFor(urls, 'zh-Hant'), 'https://a.example/tw')
  assert.equal(urlFor(urls, 'zh-Hans'), 'https://a.example')
  assert.equal(urlFor({ de: 'https://a.example' }, 'fr'), null)
  assert.equal(urlFor({ de: 'https://a.example' }, 'constructor'), null)
})
