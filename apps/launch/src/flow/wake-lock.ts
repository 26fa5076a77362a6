interface Lock {
  release(): Promise<void>
}

export interface WakeLockPlace {
  /** Undefined where the browser has no wake lock. */
  request: (() => Promise<Lock>) | undefined
  isVisible(): boolean
  onVisibility(listener: () => void): void
}

/**
 * Keeps the screen on while it is called with true: a phone that sleeps stops downloads and camera. Browsers release the lock of a hidden
 * page, so it is asked for again when the page is visible. A refusal (low battery) changes nothing else.
 */
export function createWakeLock(place: WakeLockPlace = browserPlace()): (isAwake: boolean) => void {
  let wanted = false
  let lock: Promise<Lock | undefined> | undefined

  function follow(): void {
    const isOn = wanted && place.isVisible()
    if (isOn) lock ??= place.request?.().catch(() => undefined)
    else {
      void lock?.then((held) => held?.release()).catch(() => {})
      lock = undefined
    }
  }
  place.onVisibility(follow)

  return (isAwake) => {
    wanted = isAwake
    follow()
  }
}

function browserPlace(): WakeLockPlace {
  // Older browsers have none.
  const { wakeLock } = navigator as { wakeLock?: WakeLock }
  return {
    request: wakeLock && (() => wakeLock.request('screen')),
    isVisible: () => document.visibilityState === 'visible',
    onVisibility: (listener) => document.addEventListener('visibilitychange', listener),
  }
}
