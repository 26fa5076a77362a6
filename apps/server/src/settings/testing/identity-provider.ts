/** An identity provider on this machine that a test can change, break and stop. Only tests import this. */
import { once } from 'node:events'
import { createServer, type RequestListener } from 'node:http'
import type { TenantIssuerInput } from '@ostiary/contract'
import { type CryptoKey, exportJWK, generateKeyPair, type JWK, SignJWT } from 'jose'

export interface SigningKey {
  kid: string
  alg: string
  privateKey: CryptoKey
  jwk: JWK
}

export interface IdentityProvider {
  /** What a tenant enters. */
  settings: TenantIssuerInput
  /** The newest key. */
  key(): SigningKey
  /** How often the keys were asked for. */
  requests(): number
  /** A new key in place of those before. */
  rotate(alg?: string): Promise<SigningKey>
  /** Any set of public keys. */
  publish(keys: readonly JWK[]): void
  /** Answers otherwise from now on; undefined goes back to the keys. */
  answerWith(listener: RequestListener | undefined): void
  /** A token with everything right but what is given; undefined takes a claim or a header field away. */
  sign(claims?: Record<string, unknown>, header?: Record<string, unknown>, key?: SigningKey): Promise<string>
  stop(): Promise<void>
  /** At the same address as before. */
  start(): Promise<void>
}

export async function createSigningKey(kid: string, alg: string): Promise<SigningKey> {
  const { publicKey, privateKey } = await generateKeyPair(alg, { extractable: true })
  return { kid, alg, privateKey, jwk: { ...(await exportJWK(publicKey)), kid, alg, use: 'sig' } }
}

/** `now` is what the tokens' times are made from, in seconds. */
export async function createIdentityProvider(now: () => number, path = 'keys'): Promise<IdentityProvider> {
  let [requests, made, port] = [0, 0, 0]
  let listener: RequestListener | undefined
  let key = await createSigningKey('key-0', 'ES256')
  let published: readonly JWK[] = [key.jwk]
  let server = createServer()

  async function start(): Promise<void> {
    server = createServer((request, response) => {
      requests++
      if (listener) listener(request, response)
      else response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify({ keys: published }))
    })
    // A test that fails half way must not keep its process alive.
    server.listen(port, '127.0.0.1').unref()
    await once(server, 'listening')
    const address = server.address()
    if (typeof address === 'object' && address) port = address.port
  }
  await start()
  const issuer = `http://127.0.0.1:${port}/${path}`
  const settings = { issuer, jwksUri: issuer, audience: 'age-check' }

  return {
    settings,
    key: () => key,
    requests: () => requests,
    async rotate(alg = 'ES256') {
      made++
      key = await createSigningKey(`key-${made}`, alg)
      published = [key.jwk]
      return key
    },
    publish(keys) {
      published = keys
    },
    answerWith(answer) {
      listener = answer
    },
    sign: (claims, header, signer = key) =>
      new SignJWT({
        iss: issuer,
        aud: 'age-check',
        sub: 'user-1',
        iat: now(),
        exp: now() + 300,
        ...claims,
      })
        .setProtectedHeader({ alg: signer.alg, kid: signer.kid, typ: 'JWT', ...header })
        .sign(signer.privateKey),
    async stop() {
      server.close()
      server.closeAllConnections()
      await once(server, 'close')
    },
    start,
  }
}
