import type { Sensed, Sensors } from './browser-apis.ts'

/** The browser as far as its sensors go. Tests pass their own. */
export interface SensorWindow extends Pick<EventTarget, 'addEventListener' | 'removeEventListener'> {
  AmbientLightSensor?: new () => LightSensor
  navigator: { permissions?: { query(wanted: { name: string }): Promise<{ state: string }> } }
}

/** The DOM types do not know it. */
interface LightSensor extends EventTarget {
  readonly illuminance: number | null
  start(): void
  stop(): void
}

/**
 * Reads the sensors that this page may read without a question: a browser that would ask gives nothing. So there is no movement on
 * an iPhone, and light only where the browser has granted it already.
 */
export function createSensors(window: SensorWindow): Sensors {
  return {
    start() {
      const squares: number[] = []
      const lux: number[] = []
      const onMotion = (event: Event) => {
        const { acceleration } = event as DeviceMotionEvent
        const { x, y, z } = acceleration ?? {}
        if (typeof x === 'number' && typeof y === 'number' && typeof z === 'number') squares.push(x * x + y * y + z * z)
      }
      window.addEventListener('devicemotion', onMotion)
      let sensor: LightSensor | null = null
      let isOver = false
      grantedSensor(window).then(
        (granted) => {
          if (!granted || isOver) return
          sensor = granted
          granted.addEventListener('reading', () => {
            if (granted.illuminance !== null) lux.push(granted.illuminance)
          })
          // Otherwise a sensor that fails is an error of the page.
          granted.addEventListener('error', () => {})
          granted.start()
        },
        () => {},
      )
      return {
        stop(): Sensed {
          isOver = true
          window.removeEventListener('devicemotion', onMotion)
          sensor?.stop()
          const mean = meanOf(squares)
          return { lux: meanOf(lux), motion: mean === null ? null : Math.sqrt(mean) }
        },
      }
    },
  }
}

async function grantedSensor({ AmbientLightSensor, navigator }: SensorWindow): Promise<LightSensor | null> {
  if (!AmbientLightSensor || !navigator.permissions) return null
  const { state } = await navigator.permissions.query({ name: 'ambient-light-sensor' })
  return state === 'granted' ? new AmbientLightSensor() : null
}

function meanOf(values: readonly number[]): number | null {
  return values.length === 0 ? null : values.reduce((sum, value) => sum + value, 0) / values.length
}
