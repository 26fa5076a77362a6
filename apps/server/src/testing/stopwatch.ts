const TICK_MS = 10
const LONGEST_TICK_MS = 50

/**
 * Counts the time in which this process could run. Waiting counts; a machine that stands still for seconds, as busy ones do, is
 * nobody's slowness. Returns how to read it, in milliseconds.
 */
export function startStopwatch(): () => number {
  let ranMs = 0
  let lastMs = performance.now()
  const look = () => {
    const nowMs = performance.now()
    ranMs += Math.min(nowMs - lastMs, LONGEST_TICK_MS)
    lastMs = nowMs
    return ranMs
  }
  setInterval(look, TICK_MS).unref()
  return look
}
