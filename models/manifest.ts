/** The manifest of the released set, from the tables alone: no file is read. */
import { createHash } from 'node:crypto'
import { fileURLToPath } from 'node:url'
import { type ModelManifest, modelSetText } from '@ostiary/contract'
import { NET_ENTRIES, type NetEntry } from './nets.ts'

/** At the root of the checkout. From this file and not from the testkit: the image is built with the models and without the tests. */
export const MODELS_FOLDER = fileURLToPath(new URL('../.models', import.meta.url))
export const MODEL_SET_ID = 'ostiary-faces-1'

export function releasedManifest(): ModelManifest {
  const nets = NET_ENTRIES.map(({ make: _, ...net }) => ({ ...net, file: fileOf(net) }))
  const hash = createHash('sha256').update(modelSetText(nets)).digest('base64url')
  return { id: MODEL_SET_ID, hash, nets }
}

/** The digest is part of the address, so that a browser may keep the file for ever. */
export function fileOf({ id, sha256 }: Pick<NetEntry, 'id' | 'sha256'>): string {
  return `${id}/${sha256.slice(0, 12)}/${id}.onnx`
}
