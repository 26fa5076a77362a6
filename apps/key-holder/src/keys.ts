import { randomBytes } from 'node:crypto'
import type { KeyHolderKey } from '@ostiary/contract'
import { createSealKeyPair, type PrivateJwk, readServiceKey, thumbprint } from '@ostiary/crypto'
import { keyStore } from './key-store.ts'
import type { Db } from './platform/db.ts'
import type { KeyVault } from './platform/key-vault.ts'

export type ServiceKeys = Awaited<ReturnType<typeof loadKeys>>

const SEED_BYTES = 32
const contextOf = (name: string) => `service-key/${name}`

/** The keys of this service, made at the first start. Of several processes that start at once, all use what the first has stored. */
export async function loadKeys(db: Db, vault: KeyVault, now: Date) {
  async function load(name: 'seal' | 'service', make: () => Promise<Uint8Array>): Promise<Buffer> {
    const found = await keyStore.find(db, name)
    if (found) return vault.open(found, contextOf(name))
    await keyStore.add(db, { name, sealed: vault.seal(await make(), contextOf(name)), createdAt: now })
    const stored = await keyStore.find(db, name)
    if (!stored) throw new Error(`The key "${name}" was not stored`)
    return vault.open(stored, contextOf(name))
  }
  const seal = await load('seal', async () => Buffer.from(JSON.stringify((await createSealKeyPair()).privateJwk)))
  const seed = await load('service', async () => randomBytes(SEED_BYTES))
  const sealPrivateJwk = JSON.parse(seal.toString()) as PrivateJwk
  const { kty, crv, x, y } = sealPrivateJwk
  const { privateKey, publicKey } = await readServiceKey(seed)
  const published: KeyHolderKey = {
    sealKey: { kty, crv, x, y },
    fingerprint: await thumbprint({ kty, crv, x, y }),
    serviceKey: publicKey,
  }
  return { sealPrivateJwk, servicePrivateKey: privateKey, published }
}

/** Seals the keys with the current master key. */
export async function resealKeys(db: Db, vault: KeyVault): Promise<number> {
  let resealed = 0
  for (const name of ['seal', 'service'] as const) {
    const found = await keyStore.find(db, name)
    if (!found || found.masterKeyId === vault.currentKeyId) continue
    await keyStore.replace(db, name, vault.seal(vault.open(found, contextOf(name)), contextOf(name)))
    resealed++
  }
  return resealed
}
