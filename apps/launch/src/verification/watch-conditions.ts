import type { Sample } from '../capture/capture-types.ts'
import type { Store } from '../flow/store.ts'
import type { Completion } from '../flow/verification-part.ts'
import type { Sensors } from './browser-apis.ts'
import { brightnessOf, type CaptureFacts, conditionsOf } from './conditions.ts'

/** Listens to the sensors while a capture runs, and adds what they said to the claims of that capture. */
export function watchConditions(store: Store, sensors: Sensors) {
  let running: ReturnType<Sensors['start']> | null = null
  let camera: CaptureFacts['camera'] | null = null
  let known: CaptureFacts | null = null

  store.onEnter((state, before) => {
    if (state.at === before.at) return
    running?.stop()
    running = null
    const { camera: opened } = store.view()
    if (state.at !== 'capture' || !opened) return
    known = null
    running = sensors.start()
    const { width, height, stream } = opened
    // Read now: a camera that was stopped has no settings.
    const frameRate = stream?.getVideoTracks()[0]?.getSettings().frameRate ?? null
    camera = { width, height, frameRate }
  })

  return {
    seen(samples: readonly Sample[]): void {
      const brightness = brightnessOf(samples)
      if (brightness !== null && running && camera) known = { brightness, sensed: running.stop(), camera }
      running = null
    },
    addTo(claims: Completion['claims']): Completion['claims'] {
      if (!known) return claims
      return { ...claims, metadata: { ...claims.metadata, captureConditions: conditionsOf(known) } }
    },
  }
}
