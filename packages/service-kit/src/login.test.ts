import assert from 'node:assert/strict'
import { test } from 'node:test'
import { takeLogin } from './login.ts'

const now = {
  url: 'postgres://a:old@db:5432/ostiary?sslmode=require',
  directUrl: 'postgres://a:old@direct:5432/ostiary',
}

test('[X4] a changed password, and another role, are taken for both ways to the database', () => {
  const fresh = { url: 'postgres://b:n%40w@db:5432/ostiary', directUrl: 'postgres://b:n%40w@direct:5432/ostiary' }
  assert.deepEqual(takeLogin(now, fresh), {
    url: 'postgres://b:n%40w@db:5432/ostiary?sslmode=require',
    directUrl: 'postgres://b:n%40w@direct:5432/ostiary',
  })
})

test('[X4] the same login, and the login of another host or database, change nothing', () => {
  assert.equal(takeLogin(now, now), undefined)
  assert.equal(takeLogin(now, { url: 'postgres://b:new@other:5432/ostiary' }), undefined)
  assert.equal(takeLogin(now, { url: 'postgres://b:new@db:5432/other' }), undefined)
  assert.equal(
    takeLogin(now, { url: 'postgres://b:ne/w@db:5432/ostiary' }),
    undefined,
    'a password that is not encoded',
  )
  assert.equal(takeLogin({ url: 'postgres://a@/db?host=/run' }, { url: 'postgres://b@/db?host=/run' }), undefined)
})
