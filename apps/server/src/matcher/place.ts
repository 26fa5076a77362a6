import type { TenantData } from '../platform/tenant-data.ts'
import type { TokenRow } from './store.ts'
import type { TokenPlace } from './token-row.ts'

type Named = Pick<TokenRow, 'account' | 'tokenId' | 'model' | 'format' | 'deviceKey'>

/** What the seal of a token's row is bound to. */
export function placeOf({ tenantId, livemode }: TenantData, named: Named): TokenPlace {
  const { account, tokenId, model, format, deviceKey } = named
  return {
    tenantId,
    livemode,
    account: account.toString('base64url'),
    tokenId: tokenId.toString('base64url'),
    model,
    format,
    deviceKey: deviceKey.toString('base64url'),
  }
}
