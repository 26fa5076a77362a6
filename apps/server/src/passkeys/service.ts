import { createHash } from 'node:crypto'
import { PASSKEY_LIMITS } from '@ostiary/contract'
import type { Queryable } from '../platform/db.ts'
import { isId } from '../platform/ids.ts'
import type { Platform } from '../platform/platform.ts'
import type { TenantData } from '../platform/tenant-data.ts'
import { readAssertion, readRegistration } from './answer.ts'
import { checkAssertion, checkRegistration, hasGoneBack } from './ceremonies.ts'
import { creationOptions, requestOptions, userHandleOf } from './options.ts'
import { type PasskeyKey, passkeyStore } from './store.ts'
import { type Counters, type KnownCredential, type NewCredential, refuse, type Verdict } from './types.ts'

const CHALLENGE_BYTES = 32

interface Deps extends Pick<Platform, 'clock' | 'ids' | 'log'> {
  /** Passkeys belong to the host of this URL and work nowhere else. */
  launchUrl: string
}

export interface AssertionToCheck {
  /** As the page sent it. */
  response: unknown
  challenge: string
  /** The counters at the time of the challenge. */
  counters: Counters
  owner: TenantData
  puid: string
}

/**
 * WebAuthn ceremonies. The caller stores the challenge, for `PASSKEY_LIMITS.answerMs` and for one answer. Functions that use the
 * database take the caller's transaction.
 */
export function createPasskeys({ clock, ids, log, launchUrl }: Deps) {
  const { hostname, origin } = new URL(launchUrl)
  const party = { rpId: hostname, origin }
  const newChallenge = () => Buffer.from(ids.randomBytes(CHALLENGE_BYTES)).toString('base64url')

  return {
    rpId: party.rpId,

    registrationOptions({ rpName, userName }: { rpName: string; userName: string }) {
      const challenge = newChallenge()
      const options = creationOptions({ rpId: party.rpId, challenge, rpName, userName })
      return { options, challenge, userHandle: userHandleOf(challenge) }
    },

    async verifyRegistration(sent: {
      response: unknown
      challenge: string
    }): Promise<Verdict<{ credential: NewCredential }>> {
      const answer = readRegistration(sent.response)
      return answer ? checkRegistration(party, answer, sent.challenge) : refuse('malformed')
    },

    /** The transaction stays usable after a refusal. Throws when the person has been deleted. */
    async insert(tx: Queryable, owner: TenantData, puid: string, credential: NewCredential): Promise<Verdict> {
      const { counter, transports, backedUp } = credential
      const inserted = await passkeyStore.insert(tx, keyOf(owner, puid, credential.credentialId), {
        credentialId: Buffer.from(credential.credentialId, 'base64url'),
        publicKey: Buffer.from(credential.publicKey, 'base64url'),
        userHandle: Buffer.from(credential.userHandle, 'base64url'),
        counter,
        transports,
        backupEligible: credential.deviceType === 'multiDevice',
        backedUp,
        createdAt: clock.now(),
        limit: PASSKEY_LIMITS.perPerson,
      })
      if (inserted === 'inserted') return { ok: true }
      return refuse(inserted === 'full' ? 'full' : 'taken')
    },

    /** The person's passkeys that are not suspended. */
    async findForPerson(db: Queryable, owner: TenantData, puid: string): Promise<KnownCredential[]> {
      return isId(puid) ? passkeyStore.findForPerson(db, owner, puid) : []
    },

    /** The caller stores these with the challenge: a counter is compared with its value at the time of the challenge. */
    async countersOf(db: Queryable, owner: TenantData, puid: string): Promise<Counters> {
      return isId(puid) ? passkeyStore.findCounters(db, owner, puid) : {}
    },

    authenticationOptions({ credentials }: { credentials: readonly KnownCredential[] }) {
      const challenge = newChallenge()
      return { options: requestOptions(party.rpId, challenge, credentials), challenge }
    },

    /** The caller must commit even after a refusal: it may have suspended a passkey that showed an old counter. */
    async verifyAuthentication(tx: Queryable, sent: AssertionToCheck): Promise<Verdict> {
      const { challenge, owner, puid } = sent
      const answer = readAssertion(sent.response)
      if (!answer) return refuse('malformed')
      const key = keyOf(owner, puid, answer.credentialId)
      const passkey = isId(puid) ? await passkeyStore.find(tx, key) : undefined
      if (!passkey) return refuse('unknown_credential')
      const credential = { credentialId: passkey.credentialId.toString('base64url'), publicKey: passkey.publicKey }
      const checked = await checkAssertion(party, answer, { challenge, key: credential })
      if (!checked.ok) return checked
      const { counter, backedUp, deviceType } = checked.shown
      const isOthers = answer.userHandle !== null && answer.userHandle !== passkey.userHandle.toString('base64url')
      if (isOthers || passkey.backupEligible !== (deviceType === 'multiDevice')) return refuse('not_verified')
      if (passkey.isSuspended) return refuse('suspended')
      const answered = createHash('sha256').update(challenge).digest()
      if (passkey.answered?.equals(answered)) return refuse('replayed')
      if (hasGoneBack(passkey.counter, counter)) {
        // The passkey was used since: this answer was delayed while another sign-in of the same person succeeded.
        const counterThen = sent.counters[key.credentialHash.toString('base64url')] ?? 0
        if (passkey.counter !== counterThen) return refuse('overtaken')
        await passkeyStore.suspend(tx, key, clock.now())
        log.warn({ tenantId: owner.tenantId, livemode: owner.livemode }, 'the counter of a passkey went back')
        return refuse('counter_back')
      }
      const used = await passkeyStore.use(tx, key, { counter, backedUp, answered, now: clock.now() })
      return used ? { ok: true } : refuse('replayed')
    },

    /** Returns how many passkeys were deleted. */
    async deletePerson(tx: Queryable, owner: TenantData, puid: string): Promise<number> {
      return isId(puid) ? passkeyStore.deletePerson(tx, owner, puid) : 0
    },
  }
}
export type Passkeys = ReturnType<typeof createPasskeys>

function keyOf(owner: TenantData, personId: string, credentialId: string): PasskeyKey {
  const credentialHash = createHash('sha256').update(Buffer.from(credentialId, 'base64url')).digest()
  return { owner, personId, credentialHash }
}
