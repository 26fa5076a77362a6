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

/** A key pair that signs webhooks. Its public half is in the tenant's key set. Times are ISO 8601. */
export interface WebhookKeyRecord {
  /** Thumbprint of the public half (RFC 7638). */
  kid: string
  tenant_id: string
  livemode: boolean
  /** `ending`: a newer one signs beside it, until `ends_at`. `retired`: it signs nothing, and its private half is erased. */
  status: 'current' | 'ending' | 'retired'
  when_created: string
  ends_at?: string
}
