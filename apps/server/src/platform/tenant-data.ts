/** The live data or the test data of one tenant. Every row belongs to one of them. */
export interface TenantData {
  tenantId: string
  livemode: boolean
}
