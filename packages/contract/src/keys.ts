/** The API key record of the specification, with our extensions after it. Times are ISO 8601. */
export interface ApiKeyRecord {
  id: string
  /** The key itself when it was just made; later masked, as in `ost_test_…k3v9`. */
  api_key: string
  customer_id?: string
  api_id?: string
  usage_plan_id?: string
  product_code?: string
  status: 'active' | 'revoked'
  when_created: string
  last_updated: string
  tenant_id: string
  livemode: boolean
  name: string
  scopes: string[]
  allowed_ips: string[]
  /** Set by rotation: the key stops working then. */
  ends_at?: string
}
