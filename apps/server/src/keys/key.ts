import { BlockList, isIP, isIPv6 } from 'node:net'
import { SCOPES, type Scope, USAGE_PLANS, type UsagePlan } from '@ostiary/contract'
import { AppError, invalid } from '../platform/errors.ts'

/** The caller of a request, as the guard identified it: everything that a service needs to know. */
export interface Caller {
  tenantId: string
  livemode: boolean
  /** Absent for anonymous callers. */
  keyId?: string
  rateFactor: number
}

/** The operation and the address that a key is used for. */
export interface KeyUse {
  /** Of several, any one is enough. */
  scope: Scope | readonly Scope[] | undefined
  address: string
}

/** The facts that the check of a key needs, without secrets. They are cached. */
export interface KeyFacts {
  tenantId: string
  keyId: string
  livemode: boolean
  scopes: readonly string[]
  usagePlan: string | null
  allowedIps: readonly string[]
  status: string
  tenantStatus: string
  endsAt: Date | null
}

/** What decides whether a key of the tenant may sign. Without the key itself. */
export interface SigningKeyFacts extends Pick<KeyFacts, 'keyId' | 'livemode' | 'scopes' | 'status' | 'endsAt'> {
  rotatedTo: string | null
}

/** The tenant of callers without a key, in open areas. All of them share its data. */
export const ANONYMOUS_TENANT_ID = '00000000-0000-7000-8000-000000000000'
export const ANONYMOUS: Caller = { tenantId: ANONYMOUS_TENANT_ID, livemode: false, rateFactor: 1 }

export const DEFAULT_OVERLAP_DAYS = 7

/** Only `active` is accepted, as the specification says; a rotated key is active until its end date. */
export function isActive(facts: Pick<KeyFacts, 'status' | 'endsAt'>, now: Date): boolean {
  return facts.status === 'active' && (facts.endsAt === null || now < facts.endsAt)
}

/** Checks whether an existing key may be used for this operation, address and time. Throws the reason when not. */
export function acceptKey(facts: KeyFacts, use: KeyUse, now: Date): Caller {
  if (!isActive(facts, now)) throw new AppError('forbidden', 'KEY_INACTIVE', 'This API key is not active')
  if (facts.tenantStatus !== 'active')
    throw new AppError('forbidden', 'KEY_INACTIVE', 'The tenant of this API key is suspended')
  if (!isAddressAllowed(facts.allowedIps, use.address)) {
    throw new AppError('forbidden', 'ADDRESS_DENIED', 'This API key may not be used from this address')
  }
  const wanted = use.scope === undefined ? [] : [use.scope].flat()
  if (wanted.length > 0 && !wanted.some((scope) => hasScope(facts.scopes, scope))) {
    throw new AppError('forbidden', 'SCOPE_DENIED', `This API key lacks the scope ${wanted.join(' or ')}`)
  }
  return {
    tenantId: facts.tenantId,
    keyId: facts.keyId,
    livemode: facts.livemode,
    rateFactor: rateFactorOf(facts.usagePlan),
  }
}

export function hasScope(scopes: readonly string[], wanted: Scope): boolean {
  return scopes.includes(wanted)
}

/** An empty list allows every address. Entries are addresses or networks (`192.0.2.0/24`, `2001:db8::/32`). */
export function isAddressAllowed(allowed: readonly string[], address: string): boolean {
  if (allowed.length === 0) return true
  const plain = address.replace(/^::ffff:(?=\d+\.)/i, '')
  if (isIP(plain) === 0) return false
  const list = new BlockList()
  for (const entry of allowed) addToList(list, entry)
  return list.check(plain, isIPv6(plain) ? 'ipv6' : 'ipv4')
}

function addToList(list: BlockList, entry: string): void {
  // Without this check an empty prefix would parse as 0, which allows every address.
  if (!/^[^/]+(\/\d{1,3})?$/.test(entry)) throw new RangeError('not an address or network')
  const [address = '', prefix] = entry.split('/')
  const family = isIPv6(address) ? 'ipv6' : 'ipv4'
  list.addSubnet(address, prefix === undefined ? (family === 'ipv6' ? 128 : 32) : Number(prefix), family)
}

function rateFactorOf(plan: string | null): number {
  return plan !== null && Object.hasOwn(USAGE_PLANS, plan) ? USAGE_PLANS[plan as UsagePlan] : USAGE_PLANS.standard
}

export interface NewKey {
  livemode: boolean
  name: string
  scopes: readonly string[]
  allowedIps: readonly string[]
  customerId?: string | undefined
  apiId?: string | undefined
  usagePlanId?: string | undefined
  productCode?: string | undefined
}

/** Refuses input for a key that would look valid but never work. */
export function checkNewKey(key: NewKey): void {
  if (key.name.length === 0 || key.name.length > 100) throw invalid('/name', 'must have 1 to 100 characters')
  if (key.scopes.length === 0) throw invalid('/scopes', 'must not be empty')
  for (const scope of key.scopes) {
    if (!(SCOPES as readonly string[]).includes(scope)) throw invalid('/scopes', `must be among ${SCOPES.join(', ')}`)
  }
  for (const entry of key.allowedIps) {
    try {
      addToList(new BlockList(), entry)
    } catch {
      throw invalid('/allowed_ips', 'must be addresses or networks such as 192.0.2.0/24')
    }
  }
  if (key.usagePlanId !== undefined && !Object.hasOwn(USAGE_PLANS, key.usagePlanId)) {
    throw invalid('/usage_plan_id', `must be one of ${Object.keys(USAGE_PLANS).join(', ')}`)
  }
}
