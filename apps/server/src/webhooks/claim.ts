/** A queue row that this worker holds until its lease ends. */
export interface Claim {
  tenantId: string
  deliveryId: string
  livemode: boolean
  endpointId: string
  attempts: number
  tries: number
  /** How often the delivery was started again by a replay. */
  restarts: number
  failNext: number
  /** There is a one-time body; `onceOf` reads it. It is not part of the claim, because pictures of all held claims would need much memory. */
  hasOnce: boolean
}
