import { setTimeout as sleep } from 'node:timers/promises'
import { type DeviceKey, decodeFrame, encodeFrame, TOKEN_SIZES, type TokenVerdict } from '@ostiary/contract'
import { type SignedProbe, verifyTokenStatement } from '@ostiary/crypto'
import { probeFault } from '@ostiary/token'
import type { Queryable } from '../platform/db.ts'
import type { Platform } from '../platform/platform.ts'
import type { TenantData } from '../platform/tenant-data.ts'
import { isRenewalDue, refundFailure, takeEvaluation } from './budget.ts'
import { hashOf } from './enrolment.ts'
import type { Evaluations } from './evaluations.ts'
import type { KeyHolderClient } from './key-holder-client.ts'
import { placeOf } from './place.ts'
import { realmOf } from './realm.ts'
import { type TokenRow, tokenStore } from './store.ts'
import { isPersonOf, openParts, openToken, type TokenParts, type TokenPlace } from './token-row.ts'

interface Deps extends Pick<Platform, 'cells' | 'clock' | 'vault' | 'log'> {
  keyHolder: KeyHolderClient
  evaluations: Pick<Evaluations, 'evaluate' | 'enter'>
  count(verdict: TokenVerdict | 'attack'): void
}

/** A token whose key the device has shown to hold. */
export interface ShownToken {
  tokenId: string
  account: string
  puid: string
  publicKey: Uint8Array
  /** The device keeps the token. */
  isOnDevice: boolean
  renewalDue: boolean
}

/** What the device sends with a probe. Everything is a claim. */
export interface NewProbe {
  sessionId: string
  account: string
  tokenId: string
  keyHolderNonce: string
  matcherNonce: string
  probe: Uint8Array
  signature: string
  sealed: string
  sealedToken: Uint8Array | null
}

/** `gone`: there is no such probe or token any more. */
export type TokenComparison = { verdict: TokenVerdict | 'gone'; puid: string | null }

const PROBE_PARTS = { parts: 2, messageBytes: TOKEN_SIZES.sealedBindChars + 64 }
/** Another process may be comparing the same probe. Longer than the key holder takes, shorter than a page waits. */
const WAIT_MS = 100
const WAITS = 60

/**
 * Compares a probe with a token. The signature is verified before anything is evaluated; budgets are counted before the evaluation; a probe
 * is evaluated once. The key holder does all of this again for itself.
 */
export function createTokenComparison({ cells, clock, vault, log, keyHolder, evaluations, count }: Deps) {
  /** An active row as it was written, with its person. Undefined for one that is pending, or that somebody has changed. */
  async function openRow(owner: TenantData, row: TokenRow | undefined): Promise<OpenedRow | undefined> {
    if (!row || row.personId === null || row.personSeal === null) return undefined
    const { personId, personSeal } = row
    const place = placeOf(owner, row)
    const parts = await openParts(vault, place, row).catch(() => undefined)
    if (parts && isPersonOf(parts.secret, place, { personId, personSeal })) return { ...parts, row, place, personId }
    log.error({ tenantId: owner.tenantId }, 'the row of a token was changed')
    return undefined
  }

  /** The active token with this id, if this device has signed that it wants it now. Otherwise undefined, without a reason. */
  async function findShown(
    db: Queryable,
    owner: TenantData,
    shown: { sessionId: string; nonce: string; tokenId: string; proof: string },
  ): Promise<ShownToken | undefined> {
    const { sessionId, nonce, tokenId, proof } = shown
    const row = await tokenStore.find(db, owner, Buffer.from(tokenId, 'base64url'))
    if (!row || row.personId === null) return undefined
    const statement = { purpose: 'begin', sessionId, nonce, tokenId } as const
    if (!(await verifyTokenStatement(keyOf(row), proof, statement))) return undefined
    const opened = await openRow(owner, row)
    if (!opened) return undefined
    return {
      tokenId,
      account: opened.place.account,
      puid: opened.personId,
      publicKey: opened.publicKey,
      isOnDevice: row.sealedToken === null,
      renewalDue: isRenewalDue(row, clock.now()),
    }
  }

  /** Stores a signed probe until the comparison. False if it does not hold; a forged one under a valid signature counts as an attack. */
  async function storeProbe(
    tx: Queryable,
    owner: TenantData,
    given: NewProbe,
  ): Promise<{ probeHash: string } | undefined> {
    const { sessionId, account, tokenId, keyHolderNonce, matcherNonce, probe, signature, sealed, sealedToken } = given
    const id = Buffer.from(tokenId, 'base64url')
    const row = await tokenStore.find(tx, owner, id)
    if (!row || row.personId === null || row.account.toString('base64url') !== account) return undefined
    const probeHash = hashOf(probe)
    const signed: SignedProbe = { realm: realmOf(owner), account, tokenId, keyHolderNonce, matcherNonce, probeHash }
    if (!(await verifyTokenStatement(keyOf(row), signature, { purpose: 'compare', ...signed }))) return undefined
    const fault = probeFault(probe, id)
    if (fault !== undefined) {
      await tokenStore.countAttack(tx, owner, id)
      count('attack')
      log.warn({ tenantId: owner.tenantId, reason: fault }, 'a device signed a forged probe')
      return undefined
    }
    const content = encodeFrame({ sealed }, [probe, sealedToken ?? new Uint8Array()])
    const blob = await vault.seal(content, probeContext(owner, probeHash))
    const stored = { ...blob, probeHash: Buffer.from(probeHash, 'base64url'), sessionId, tokenId: id, now: clock.now() }
    return (await tokenStore.insertProbe(tx, owner, stored)) ? { probeHash } : undefined
  }

  /** Waits while another process compares the probe; it may also have been killed. */
  async function otherVerdict(owner: TenantData, probeHash: Buffer): Promise<string | undefined> {
    for (let waits = 0; waits < WAITS; waits++) {
      const row = await tokenStore.findProbe(cells.forId(owner.tenantId), owner, probeHash)
      if (!row || (row.verdict !== null && row.verdict !== 'begun')) return row?.verdict ?? 'gone'
      await sleep(WAIT_MS)
    }
    return undefined
  }

  async function ask(owner: TenantData, opened: OpenedRow, { content, leave }: Asked): Promise<TokenVerdict> {
    const { message, parts } = decodeFrame(content, PROBE_PARTS)
    const { sealed } = message as { sealed: string }
    const [probe = new Uint8Array(), fromDevice = new Uint8Array()] = parts
    const { row, place, publicKey, matcherShare, secret } = opened
    const token = openToken(secret, place, row.sealedToken ?? fromDevice)
    // A token that was changed, moved or of another time.
    if (!token || !Buffer.from(hashOf(token), 'base64url').equals(row.tokenHash)) {
      log.error({ tenantId: owner.tenantId }, 'a token does not fit its row')
      return 'reject'
    }
    const evaluation = await evaluations.evaluate(owner.tenantId, {
      token,
      publicKey,
      matcherShare,
      probe,
      secret,
      isEnrolment: false,
    })
    leave()
    const { account, tokenId } = place
    return keyHolder.evaluate({ realm: realmOf(owner), account, tokenId, sealed }, { token, probe, evaluation })
  }

  async function compareInPlace(owner: TenantData, given: StoredProbe, leave: () => void): Promise<TokenComparison> {
    const { sessionId, probeHash } = given
    const db = cells.forId(owner.tenantId)
    const key = Buffer.from(probeHash, 'base64url')
    const probe = await tokenStore.findProbe(db, owner, key)
    const opened = probe && (await openRow(owner, await tokenStore.find(db, owner, probe.tokenId)))
    if (!probe || !opened || probe.sessionId !== sessionId) return { verdict: 'gone', puid: null }
    const { row, personId: puid } = opened
    const now = clock.now()
    const started = await db.transaction(async (tx) => {
      if (!(await tokenStore.beginProbe(tx, owner, key))) return 'by another process'
      if (await takeEvaluation(tx, owner, row, now)) return 'counted'
      await tokenStore.endProbe(tx, owner, key, 'locked')
      return 'locked'
    })
    if (started === 'locked') {
      count('locked')
      return { verdict: 'locked', puid }
    }
    if (started === 'by another process') {
      leave()
      const known = await otherVerdict(owner, key)
      if (known !== undefined) return { verdict: known as TokenVerdict | 'gone', puid }
    }
    // Repeated by a process that finds it begun: the same bytes again, for which the key holder repeats its answer or refuses.
    const verdict = probe.blob
      ? await ask(owner, opened, { content: await vault.open(probe, probeContext(owner, probeHash)), leave })
      : 'reject'
    // Of two processes that got the answer one takes the failure back.
    await db.transaction(async (tx) => {
      const isEnded = await tokenStore.endProbe(tx, owner, key, verdict)
      if (isEnded && verdict === 'accept') await refundFailure(tx, owner, row.account, now)
    })
    count(verdict)
    return { verdict, puid }
  }

  return {
    findShown,
    storeProbe,

    /** Takes its place in the queue first: who finds it full loses no try. */
    async compare(owner: TenantData, probe: StoredProbe): Promise<TokenComparison> {
      const leave = evaluations.enter(owner.tenantId)
      try {
        return await compareInPlace(owner, probe, leave)
      } finally {
        leave()
      }
    },
  }
}

interface StoredProbe {
  sessionId: string
  probeHash: string
}

interface Asked {
  content: Buffer
  /** Leaves the queue of evaluations. */
  leave(): void
}

interface OpenedRow extends TokenParts {
  row: TokenRow
  place: TokenPlace
  personId: string
}

const COORDINATE_BYTES = 32

function keyOf({ deviceKey }: TokenRow): DeviceKey {
  const part = (from: number) => deviceKey.subarray(from, from + COORDINATE_BYTES).toString('base64url')
  return { kty: 'EC', crv: 'P-256', x: part(0), y: part(COORDINATE_BYTES) }
}

const probeContext = ({ tenantId, livemode }: TenantData, probeHash: string) =>
  `token_probes/${tenantId}/${livemode ? 'live' : 'test'}/${probeHash}`
