import { createCipheriv, createDecipheriv, createHmac, hkdfSync } from 'node:crypto'
import type { ModelVersion } from '@ostiary/contract'
import type { Sealed } from '../platform/key-vault.ts'
import { newRandom } from '../platform/random.ts'
import { createRotation, ROTATION_BYTES, type Rotate } from './vector.ts'

const KEY_BYTES = 32
const NONCE_BYTES = 12
const TAG_BYTES = 16

/** A group as it is stored. */
export interface GroupRow extends Sealed {
  guid: string
}

/** A group is the live or the test data of a tenant. */
export interface GroupId {
  tenantId: string
  livemode: boolean
}

/** The operations that need a group's key. The key itself is not exposed. */
export interface GroupKeys {
  guid: string
  /** Creates a key for one person, wrapped for storage. */
  newPersonKey(personId: string): Buffer
  /** Seals and opens a person's vectors; throws when the wrapped key is not this person's. */
  sealTemplate(wrappedKey: Buffer, place: TemplatePlace, vector: Buffer): Buffer
  openTemplate(wrappedKey: Buffer, place: TemplatePlace, sealed: Buffer): Buffer
  /** The keyed hash under which a caller's own name for a person is found. */
  externalRef(id: string): Buffer
  /** The secret rotation of one model version's search copies. */
  rotation(version: ModelVersion): Rotate
}

export interface TemplatePlace {
  personId: string
  version: string
  seq: number
}

export function newGroupKey(): Buffer {
  return newRandom(KEY_BYTES)
}

/** The context under which the master key seals a group's key. */
export function groupKeyContext({ tenantId, livemode }: GroupId): string {
  return `face_groups/${tenantId}/${livemode ? 'live' : 'test'}`
}

export function createGroupKeys(group: GroupId, guid: string, key: Uint8Array): GroupKeys {
  const derive = (use: string, length: number) =>
    new Uint8Array(hkdfSync('sha256', key, groupKeyContext(group), `ostiary/faces/v1/${use}`, length))
  const wrapping = derive('person-keys', KEY_BYTES)
  const naming = derive('external-ref', KEY_BYTES)
  const rotations = new Map<string, Rotate>()
  const personContext = (personId: string) => `face_persons/${group.tenantId}/${group.livemode}/${personId}`
  const templateContext = ({ personId, version, seq }: TemplatePlace) =>
    `face_templates/${group.tenantId}/${group.livemode}/${personId}/${version}/${seq}`
  const unwrap = (wrappedKey: Buffer, personId: string) => open(wrapping, wrappedKey, personContext(personId))

  return {
    guid,
    newPersonKey: (personId) => seal(wrapping, newRandom(KEY_BYTES), personContext(personId)),
    sealTemplate: (wrappedKey, place, vector) =>
      seal(unwrap(wrappedKey, place.personId), vector, templateContext(place)),
    openTemplate: (wrappedKey, place, sealed) =>
      open(unwrap(wrappedKey, place.personId), sealed, templateContext(place)),
    externalRef: (id) => createHmac('sha256', naming).update(id).digest(),
    rotation(version) {
      let rotation = rotations.get(version)
      if (!rotation) {
        rotation = createRotation(derive(`rotation/${version}`, ROTATION_BYTES))
        rotations.set(version, rotation)
      }
      return rotation
    },
  }
}

/** AES-256-GCM: nonce, text, tag. A random nonce is safe for 2^32 texts under one key; ten million people are 2^24. */
function seal(key: Uint8Array, text: Uint8Array, context: string): Buffer {
  const nonce = newRandom(NONCE_BYTES)
  const cipher = createCipheriv('aes-256-gcm', key, nonce)
  cipher.setAAD(Buffer.from(context))
  return Buffer.concat([nonce, cipher.update(text), cipher.final(), cipher.getAuthTag()])
}

function open(key: Uint8Array, sealed: Buffer, context: string): Buffer {
  if (sealed.length < NONCE_BYTES + TAG_BYTES) throw new Error('Not a sealed value')
  const decipher = createDecipheriv('aes-256-gcm', key, sealed.subarray(0, NONCE_BYTES))
  decipher.setAAD(Buffer.from(context))
  decipher.setAuthTag(sealed.subarray(-TAG_BYTES))
  return Buffer.concat([decipher.update(sealed.subarray(NONCE_BYTES, -TAG_BYTES)), decipher.final()])
}
