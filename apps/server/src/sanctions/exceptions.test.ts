import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { test } from 'node:test'
import { digestPerson } from './exceptions.ts'

const TENANT = '019f1c2e-7a40-7b3c-8f00-5d2b9c41e6aa'
const ANA = { firstname: 'Ana', lastname: 'Example', dob: '1990-05-04' }
const digest = (changes: Partial<typeof ANA> = {}, tenant = TENANT) =>
  digestPerson(tenant, { ...ANA, ...changes }).toString('hex')

test('the digest is stable: stored exceptions must match for years', () => {
  const text = [TENANT, 'ana', 'example', '1990-05-04'].join('\0')
  assert.equal(digest(), createHash('sha256').update(text).digest('hex'))
})

test('capitals, spaces and the encoding of an accent do not change the digest', () => {
  assert.equal(digest({ firstname: ' ANA\t', lastname: 'eXample', dob: '1990-05-04 ' }), digest())
  assert.equal(digest({ firstname: 'Ana  \u00a0 Maria' }), digest({ firstname: 'ana maria' }))
  assert.equal(digest({ lastname: 'Pe\u0301rez' }), digest({ lastname: 'P\u00c9REZ' }))
})

test('another name, date or tenant gives another digest, and so does text that moved to the next field', () => {
  const different = [
    digest(),
    digest({ firstname: 'Anna' }),
    digest({ lastname: 'Examples' }),
    digest({ lastname: 'Pérez' }),
    digest({ lastname: 'Perez' }),
    digest({ dob: '1990-05-05' }),
    digest({ dob: '1990-05' }),
    digest({ dob: '' }),
    digest({ firstname: 'Example', lastname: 'Ana' }),
    digest({ firstname: 'Ana Example', lastname: '' }),
    digest({ firstname: '', lastname: 'Ana Example' }),
    digest({}, '019f1c2e-7a40-7b3c-8f00-5d2b9c41e6ab'),
  ]
  assert.equal(new Set(different).size, different.length)
})
