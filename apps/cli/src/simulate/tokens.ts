import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import type { OpenedSession } from '@ostiary/contract'
import { createTokenKeeper, type KeptToken, type SimulatedTokens, type TokenKeeper } from '@ostiary/device/simulated'
import { type Invocation, text, UsageError } from '../command.ts'

/** What the simulated device needs where the tenant stores tokens, as `ostiary simulate` plays it. */

const ECDSA = { name: 'ECDSA', namedCurve: 'P-256' } as const
type StoredToken = Omit<KeptToken, 'keys'> & { keys: { publicKey: KeptToken['keys']['publicKey']; privateKey: object } }

/** Undefined for sessions in which the vector is sent. */
export async function tokensFor(
  { verification }: Pick<OpenedSession, 'verification'>,
  invocation: Invocation,
  say: (what: string) => void,
): Promise<SimulatedTokens | undefined> {
  if ((verification?.templates ?? 'vector') === 'vector') return undefined
  const path = text(invocation, 'keep')
  if (path === undefined) say('keeps no key after this session: with --keep <file> it would be recognised again')
  const { createProbe, createToken } = await import('@ostiary/token')
  return {
    functions: { createToken, createProbe },
    keeper: path === undefined ? createTokenKeeper() : createFileKeeper(path),
    extractable: true,
    // Without a file the key would be lost, and with it the person whose vector was replaced.
    migrates: path !== undefined,
  }
}

/** Keeps the tokens of one device in a file, with private keys: for invented people only. */
export function createFileKeeper(path: string): TokenKeeper {
  return {
    async find(realm) {
      const stored = readTokens(path)[realm]
      return stored && opened(stored)
    },
    async keep({ keys, ...token }) {
      const { privateKey, publicKey } = keys
      const stored: StoredToken = {
        ...token,
        keys: { publicKey, privateKey: await crypto.subtle.exportKey('jwk', privateKey) },
      }
      const all = { ...readTokens(path), [token.realm]: stored }
      writeFileSync(path, `${JSON.stringify(all, null, 2)}\n`, { mode: 0o600 })
    },
  }
}

async function opened({ keys, ...token }: StoredToken): Promise<KeptToken> {
  const privateKey = await crypto.subtle.importKey('jwk', keys.privateKey, ECDSA, true, ['sign'])
  return { ...token, keys: { publicKey: keys.publicKey, privateKey } }
}

function readTokens(path: string): Record<string, StoredToken | undefined> {
  if (!existsSync(path)) return {}
  try {
    const parsed: unknown = JSON.parse(readFileSync(path, 'utf8'))
    if (typeof parsed === 'object' && parsed !== null && !Array.isArray(parsed)) {
      return parsed as Record<string, StoredToken> // Our own file.
    }
  } catch {
    // What cannot be read gets the same error as what is no object, below.
  }
  throw new UsageError('--keep must name a file that `ostiary simulate` has written, or one that does not exist yet')
}
