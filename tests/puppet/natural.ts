import type { Picture } from '@ostiary/faces'
import { createRandom } from './random.ts'
import { AT_REST, type Stance } from './script.ts'

/** How far someone who tries to hold still moves all the same: degrees, and shares of the face's width. */
const SWAY = { yaw: 1.1, pitch: 0.8, roll: 0.6, eyes: 0.06, zoom: 0.008, shiftX: 0.012, shiftY: 0.008 } as const

/** A small quick movement every now and then: swallowing, a look at something else. */
const TWITCH = { everyMs: 3800, lengthMs: 300, degrees: 0.9 } as const

/** The face of someone who holds still, at a moment. `life` 0 is a photograph. */
export function createSway(seed: number, life: number): (tMs: number) => Stance {
  const random = createRandom(seed)
  const sways = {
    yaw: createWave(random),
    pitch: createWave(random),
    roll: createWave(random),
    eyes: createWave(random),
    zoom: createWave(random),
    shiftX: createWave(random),
    shiftY: createWave(random),
  }
  const twitch = createTwitch(seed)
  return (tMs) => {
    if (life === 0) return AT_REST
    const { yaw, pitch } = twitch(tMs)
    return {
      ...AT_REST,
      yaw: life * (SWAY.yaw * sways.yaw(tMs) + yaw),
      pitch: life * (SWAY.pitch * sways.pitch(tMs) + pitch),
      roll: life * SWAY.roll * sways.roll(tMs),
      // Eyes are never wider than in the portrait, and nobody leans back so far that the picture would not fill the frame.
      eyes: Math.max(0, 1 - life * SWAY.eyes * (1 + sways.eyes(tMs))),
      zoom: 1 + life * SWAY.zoom * (1 + sways.zoom(tMs)),
      shiftX: life * SWAY.shiftX * sways.shiftX(tMs),
      shiftY: life * SWAY.shiftY * sways.shiftY(tMs),
    }
  }
}

type Wave = (tMs: number) => number

/** Between -1 and 1, never the same way twice: three slow waves whose lengths share no measure. */
function createWave(random: () => number): Wave {
  const parts = [0.11, 0.27, 0.7].map((hertz, index) => ({
    turnsPerMs: (hertz * (0.8 + 0.4 * random())) / 1000,
    phase: random(),
    share: [0.5, 0.3, 0.2][index] ?? 0,
  }))
  return (tMs) =>
    parts.reduce(
      (sum, { turnsPerMs, phase, share }) => sum + share * Math.sin(2 * Math.PI * (turnsPerMs * tMs + phase)),
      0,
    )
}

function createTwitch(seed: number): (tMs: number) => { yaw: number; pitch: number } {
  return (tMs) => {
    const turn = Math.floor(tMs / TWITCH.everyMs)
    const random = createRandom(seed * 7919 + turn)
    const [when, direction, strength] = [random(), random() * 2 * Math.PI, random()]
    const middleMs = (turn + 0.2 + 0.6 * when) * TWITCH.everyMs
    const size = TWITCH.degrees * strength * Math.exp(-(((tMs - middleMs) / (TWITCH.lengthMs / 2)) ** 2))
    return { yaw: size * Math.cos(direction), pitch: size * Math.sin(direction) }
  }
}

/** A table is drawn from once; frames begin at different places in it. Its length shares no measure with a row of pixels. */
const NOISE_LENGTH = 99_991

/** What a sensor adds to each value of a picture: other numbers in each frame, so that no two frames are the same. */
export function createNoise(
  seed: number,
  deviation: number,
): (values: Uint8ClampedArray, step: number, frame: number) => void {
  const random = createRandom(seed)
  // The sum of three uniform numbers is close enough to a normal distribution, with a deviation of one half.
  const table = Float32Array.from(
    { length: NOISE_LENGTH },
    () => 2 * deviation * (random() + random() + random() - 1.5),
  )
  return (values, step, frame) => {
    if (deviation === 0) return
    let at = Math.floor(createRandom(seed + frame)() * NOISE_LENGTH)
    for (let index = 0; index < values.length; index += step) {
      values[index] = (values[index] ?? 0) + (table[at] ?? 0)
      at = at + 1 === NOISE_LENGTH ? 0 : at + 1
    }
  }
}

/** Less light, or more; sensors clip. */
export function lightUp({ data }: Picture, light: number): void {
  if (light === 1) return
  for (let index = 0; index < data.length; index++) if (index % 4 !== 3) data[index] = (data[index] ?? 0) * light
}
