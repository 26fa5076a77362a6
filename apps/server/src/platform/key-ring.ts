import { createHmac, createSecretKey, type KeyObject } from 'node:crypto'
import { BoundedMap } from './bounded-map.ts'
import type { Clock } from './clock.ts'
import type { KeyVault, Sealed } from './key-vault.ts'
import { takeRandom } from './random.ts'

/**
 * Many keys, each of which is destroyed by deleting a row, without a call of the vault for each. The vault seals a root key of this
 * process once an hour; each key is derived from the root and its own salt. The row stores the salt and the
 * sealed root:
 *
 *   1 byte format, 32 bytes salt, the sealed root
 *
 * Without its salt a key cannot be derived again, even by a holder of the root.
 */
export interface KeyRing {
  /** Creates a key, with the bytes to store from which it can be opened. */
  next(): Promise<{ key: KeyObject; stored: Sealed }>
  open(stored: Sealed): Promise<KeyObject>
  /** The same key, stored under the current master key. */
  reseal(stored: Sealed): Promise<Sealed>
}

const FORMAT = 2
const SALT_BYTES = 32
const ROOT_AT = 1 + SALT_BYTES
const ROOT_BYTES = 32
const ROOT_LIFE_MS = 3_600_000
const MAX_OPENED = 1_000

interface Root {
  key: KeyObject
  sealed: Sealed
}

/** `name` binds the roots to their purpose. */
export function createKeyRing({ vault, clock, name }: { vault: KeyVault; clock: Clock; name: string }): KeyRing {
  const context = `key-ring/${name}`
  const opened = new BoundedMap<string, Promise<KeyObject>>(MAX_OPENED)
  let current: Promise<Root> | undefined
  let ends = 0

  async function newRoot(): Promise<Root> {
    const raw = Buffer.from(takeRandom(ROOT_BYTES))
    return { key: createSecretKey(raw), sealed: await vault.seal(raw, context) }
  }

  function usableRoot(): Promise<Root> {
    const nowMs = clock.monotonicMs()
    if (!current || nowMs >= ends) {
      ends = nowMs + ROOT_LIFE_MS
      const made = newRoot()
      made.catch(() => {
        if (current === made) current = undefined
      })
      current = made
    }
    return current
  }

  function rootOf({ masterKeyId, blob }: Sealed): Promise<KeyObject> {
    const id = masterKeyId + blob.toString('latin1', ROOT_AT)
    let root = opened.get(id)
    if (!root) {
      root = vault.open({ masterKeyId, blob: blob.subarray(ROOT_AT) }, context).then((raw) => createSecretKey(raw))
      root.catch(() => opened.delete(id))
      opened.set(id, root)
    }
    return root
  }

  return {
    async next() {
      const { key, sealed } = await usableRoot()
      const blob = Buffer.concat([PREFIX, takeRandom(SALT_BYTES), sealed.blob])
      return { key: derive(key, blob), stored: { masterKeyId: sealed.masterKeyId, blob } }
    },
    async open(stored) {
      checkForm(stored.blob)
      return derive(await rootOf(stored), stored.blob)
    },
    async reseal({ masterKeyId, blob }) {
      checkForm(blob)
      const raw = await vault.open({ masterKeyId, blob: blob.subarray(ROOT_AT) }, context)
      const sealed = await vault.seal(raw, context)
      return { masterKeyId: sealed.masterKeyId, blob: Buffer.concat([blob.subarray(0, ROOT_AT), sealed.blob]) }
    },
  }
}

const PREFIX = Buffer.of(FORMAT)

function derive(root: KeyObject, blob: Buffer): KeyObject {
  return createSecretKey(createHmac('sha256', root).update(blob.subarray(1, ROOT_AT)).digest())
}

function checkForm(blob: Buffer): void {
  if (blob[0] !== FORMAT || blob.length <= ROOT_AT) throw new Error('Not a key of a ring')
}
