import { closeSync, openSync, writeSync } from 'node:fs'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { MOVEMENTS, type Movement } from '@ostiary/contract'
import { type Covering, wearing } from '@ostiary/testkit/samples/coverings'
import type { DocumentSide } from '@ostiary/testkit/samples/documents'
import { readPicture } from '@ostiary/testkit/samples/portraits'
import { drawSide } from './documents.ts'
import { drawHeld, HELD_FPS, type HeldOptions } from './held.ts'
import { toI420 } from './i420.ts'
import { createSway } from './natural.ts'
import { createPlayer, type Frame, type Reel, type SceneName } from './player.ts'
import { createPuppet } from './puppet.ts'
import { CAMERA_FPS, CAMERA_SIZE, createScene, type Portrait, readPortrait } from './scene.ts'
import { type Script, stanceAt, USUAL } from './script.ts'
import type { Size } from './stage.ts'

export interface LiveOptions {
  portrait: string
  /** Ends in .y4m. */
  out: string
  size?: Size
  seed?: number
  /** Which movements it will be able to make; all when it is left out. */
  movements?: readonly Movement[]
}

/** A camera that answers. Chromium reads the frame in the file each time it wants one, and we keep changing it. */
export interface LiveCamera {
  path: string
  /** Makes a movement after a human reaction time; resolves when the face is at rest again. */
  perform(movement: Movement): Promise<void>
  show(what: SceneName): void
  /** Draws a flat thing as it is held before the camera, so that `hold` need not wait for that. */
  prepare(thing: HeldThing): Promise<void>
  /** Holds a flat thing, such as a document, before the camera until `show` is called. Resolves when it is seen. */
  hold(thing: HeldThing): Promise<void>
  /** Slow motion from now on, for a browser on a slow machine. 1 is normal. */
  slowDown(factor: number): void
  stop(): Promise<void>
}

/** A picture file, or a document that is to be drawn; or something that the face wears, which is held in place of the bare face. */
export type HeldThing = (HeldOptions & ({ file: string } | { document: DocumentSide })) | { wears: Covering }

/**
 * Draws everything beforehand, because drawing takes time that the browser under test needs, and plays it into a file that
 * holds a single frame.
 */
export async function startLiveCamera(options: LiveOptions): Promise<LiveCamera> {
  const { portrait, out, size = CAMERA_SIZE, seed = 1, movements = MOVEMENTS } = options
  const person = await readPortrait(portrait)
  const reel = drawReel(person, { size, seed, movements })
  const file = openSync(out, 'w')
  const header = Buffer.from(y4mHeader(size))
  writeSync(file, header)
  const player = createPlayer(reel, {
    fps: CAMERA_FPS,
    seed,
    now: () => performance.now(),
    show: (frame) => writeSync(file, frame, 0, frame.length, header.length),
  })
  const drawn = new Map<string, Promise<Frame[]>>()
  const draw = (thing: HeldThing) => {
    const key = JSON.stringify(thing)
    const camera = { size, seed }
    const frames =
      drawn.get(key) ?? ('wears' in thing ? drawWorn(person, thing.wears, camera) : drawThing(thing, camera))
    drawn.set(key, frames)
    return frames
  }
  return {
    path: out,
    perform: player.perform,
    show: player.show,
    async prepare(thing) {
      await draw(thing)
    },
    async hold(thing) {
      await player.hold(await draw(thing), HELD_FPS)
    },
    slowDown: player.slowDown,
    async stop() {
      player.stop()
      closeSync(file)
    },
  }
}

/** The face at rest with a covering. */
async function drawWorn({ picture, mesh }: Portrait, covering: Covering, camera: { size: Size; seed: number }) {
  const puppet = createPuppet(wearing(picture, mesh, covering), { mesh, size: camera.size })
  const sway = createSway(camera.seed, 1)
  const frames: Frame[] = []
  for (let frame = 0; frame < (REST.lengthMs / 1000) * HELD_FPS; frame++) {
    frames.push(toI420(puppet.draw(sway((frame * 1000) / HELD_FPS))))
    await nextTurn()
  }
  return frames
}

async function drawThing(
  thing: Exclude<HeldThing, { wears: Covering }>,
  camera: { size: Size; seed: number },
): Promise<Frame[]> {
  const frames: Frame[] = []
  const sheet = await ('file' in thing ? readPicture(thing.file) : drawSide(thing.document))
  for (const picture of drawHeld(sheet, { ...thing, ...camera })) {
    frames.push(toI420(picture))
    // A camera that stands still while it draws would be taken for a photograph.
    await nextTurn()
  }
  return frames
}

/** The header before the one frame of a .y4m. */
export function y4mHeader({ width, height }: Size): string {
  return `YUV4MPEG2 W${width} H${height} F${BROWSER_FPS}:1 Ip A1:1 C420mpeg2\nFRAME\n`
}

/** The browser looks twice as often as the picture changes, as it would with a slow camera. */
const BROWSER_FPS = 30

/** At rest a face moves so slowly that every second frame may be shown twice. */
const REST = { lengthMs: 4000, fps: CAMERA_FPS / 2 } as const

function drawReel(
  { picture, mesh }: Portrait,
  options: Required<Pick<LiveOptions, 'size' | 'seed' | 'movements'>>,
): Reel {
  const { size, seed, movements } = options
  const puppet = createPuppet(picture, { mesh, size })
  const sway = createSway(seed, 1)
  const play = (script: Script, fps: number): Frame[] =>
    Array.from({ length: Math.ceil((script.durationMs * fps) / 1000) }, (_, frame) => {
      const tMs = (frame * 1000) / fps
      return toI420(puppet.draw(stanceAt(script, tMs, sway(tMs))))
    })
  // Every frame is played on the way there and on the way back, so only half of a movement has to be drawn.
  const drawMove = (movement: Movement): [Movement, Frame[]] => {
    const { riseMs, holdMs } = USUAL[movement]
    const there = play({ durationMs: riseMs + holdMs / 2, moves: [{ movement, atMs: 0 }] }, CAMERA_FPS)
    return [movement, [...there, ...there.toReversed()]]
  }
  const rest = play({ durationMs: REST.lengthMs, moves: [] }, REST.fps)
  return {
    rest: rest.flatMap((frame) => [frame, frame]),
    empty: toI420(puppet.empty),
    twoFaces: toI420(createScene({ picture, mesh }, { size, script: TWO_FACES }).draw(0, 0)),
    moves: new Map(movements.map(drawMove)),
  }
}

const TWO_FACES: Script = { durationMs: 1, moves: [], faces: 2 }
