import assert from 'node:assert/strict'
import { createServer as createNetServer } from 'node:net'
import { after, describe, test } from 'node:test'
import { createOutbound } from './index.ts'
import { createPooledOutbound } from './pooled.ts'
import { closeServers, failsWith, get, listen } from './testing/servers.ts'

const lookup = async (name: string) => {
  if (name === 'missing.example') throw Object.assign(new Error('no'), { code: 'ENOTFOUND' })
  return name === 'mixed.example' ? ['127.0.0.1', '127.0.0.2'] : ['127.0.0.1']
}
const options = { version: '1', allowNetworks: ['127.0.0.1/32'], allowHttp: true, lookup }
const single = createOutbound(options)
const pooled = createPooledOutbound(options)
after(async () => {
  await pooled.close()
  closeServers()
})

/** The ways to call a URL. All use the same guard, so all fail in the same way. */
const ways: readonly [string, (url: string) => Promise<unknown>][] = [
  ['request', (url) => single.request(get(url))],
  ['post', (url) => pooled.post({ owner: 'tenant', url, allowHttp: true, headers: [], body: Buffer.from('{}') })],
]

for (const [name, call] of ways) {
  describe(`the guard of ${name}`, () => {
    test('refuses a URL with the rule that it breaks', async () => {
      for (const [url, reason, code] of [
        ['ftp://lists.example/', 'forbidden_target', 'scheme'],
        ['http://localhost:8080/', 'forbidden_target', 'local_name'],
        ['http://0x7f.1:8080/', 'forbidden_target', 'host_notation'],
        ['http://127.0.0.2:8080/', 'forbidden_address', 'address'],
        ['http://mixed.example:8080/', 'forbidden_address', 'resolved'],
        ['http://missing.example:8080/', 'dns', 'ENOTFOUND'],
      ] as const)
        assert.equal((await failsWith(reason, call(url))).code, code, url)
    })

    test('reports a connection that breaks in the handshake as a failure of TLS', async () => {
      const { port } = await listen(createNetServer((socket) => socket.once('data', () => socket.destroy())))
      await failsWith('tls', call(`https://lists.example:${port}/`))
    })
  })
}
