/**
 * Loaded before a process of a drill (`--import`): its wall clock is ahead by as many seconds as SHIFTED_CLOCK says, and where there is a
 * SHIFTED_CLOCK_PORT by as many as were last asked for there (`GET /80`).
 */
import { createServer } from 'node:http'

let aheadMs = Number(process.env.SHIFTED_CLOCK ?? 0) * 1000
const RealDate = Date

globalThis.Date = class extends RealDate {
  constructor(...args: [] | ConstructorParameters<typeof RealDate>) {
    super(...((args.length === 0 ? [RealDate.now() + aheadMs] : args) as [number]))
  }
  static override now(): number {
    return RealDate.now() + aheadMs
  }
} as DateConstructor

const port = process.env.SHIFTED_CLOCK_PORT
if (port)
  createServer(({ url = '' }, response) => {
    aheadMs = Number(url.slice(1)) * 1000
    response.end()
  })
    .listen(Number(port), '127.0.0.1')
    .unref()
