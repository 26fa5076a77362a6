import assert from 'node:assert/strict'
import { test } from 'node:test'
import { UsageError } from '../command.ts'
import { targetOf } from './target.ts'

test('events go to this machine and private networks; elsewhere only if the person says so', () => {
  for (const url of [
    'http://localhost:3000/hook',
    'http://shop.localhost/',
    'http://127.0.0.1:1/',
    'http://[::1]:3000/',
    'http://10.1.2.3/',
    'https://192.168.0.9/hook?a=1',
    'http://host.docker.internal:3000/',
  ]) {
    assert.equal(targetOf(url, false), url)
  }
  for (const url of [
    'https://shop.example/hook',
    'http://203.0.113.7/',
    'http://localhost.example/',
    'http://[2001:db8::1]/',
    'http://169.254.169.254/latest/meta-data/',
    'http://[fd00:ec2::254]/',
  ]) {
    assert.throws(() => targetOf(url, false), UsageError, url)
    assert.equal(targetOf(url, true), url)
  }
  for (const url of ['localhost:3000', 'ftp://localhost/', 'http://a:b@localhost/', '']) {
    assert.throws(() => targetOf(url, true), UsageError, url)
  }
})
