import { type DocumentType, TENANT_SETTINGS_DEFAULTS, type TenantSettings } from '@ostiary/contract'

/** Which documents count for a tenant, as a session keeps it from its creation to its end. */
export interface DocumentPolicy {
  types: readonly DocumentType[]
  expiryGraceDays: number
  reuseCheck: boolean
}

export function documentPolicyOf(settings: TenantSettings): DocumentPolicy {
  const { documentTypes, documentExpiryGraceDays, documentReuseCheck } = settings
  return { types: documentTypes, expiryGraceDays: documentExpiryGraceDays, reuseCheck: documentReuseCheck }
}

/** For sessions of the last release, which kept none. */
export const DEFAULT_DOCUMENT_POLICY: DocumentPolicy = documentPolicyOf(TENANT_SETTINGS_DEFAULTS)
