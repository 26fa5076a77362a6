/** Loaded before a process of a drill (`--import`): its wall clock is ahead by as many seconds as SHIFTED_CLOCK says. */
const aheadMs = Number(process.env.SHIFTED_CLOCK ?? 0) * 1000
const RealDate = Date

globalThis.Date = class extends RealDate {
  constructor(...args: [] | ConstructorParameters<typeof RealDate>) {
    super(...((args.length === 0 ? [RealDate.now() + aheadMs] : args) as [number]))
  }
  static override now(): number {
    return RealDate.now() + aheadMs
  }
} as DateConstructor
