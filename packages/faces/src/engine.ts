import { combineAges, deepInput, faInput, readDeep, readFa } from './age.ts'
import { isAgeable } from './ageable.ts'
import { findCovered } from './covered.ts'
import { digestOf } from './digest.ts'
import { EMBEDDING } from './embed.ts'
import { EYE_LOOKS, eyeAspects, eyeInputs, openness, readShut, SURELY_OPEN } from './eyes.ts'
import { boxOf } from './geometry.ts'
import { passiveInput, readPassive } from './liveness.ts'
import { createNets, type Nets } from './nets.ts'
import { findPortrait, matchScore, type PortraitArea, type PortraitSighting } from './portrait.ts'
import { poseOf } from './pose.ts'
import { alignedGrey, measureQuality } from './quality.ts'
import { createTracker } from './tracker.ts'
import type { EmbeddingId, LoadNet, Measured, NetId, Picture, SeenFace, Sighting } from './types.ts'
import { cosine, quantise } from './vectors.ts'
import type { Crop } from './warp.ts'

/**
 * Analyses pictures of one camera, one after the other: calls must not overlap. Call `begin` between unrelated pictures,
 * because the engine first searches for a face where it saw the last one.
 */
export interface FaceEngine {
  /** Where the face is and how good the picture is, for guidance. */
  look(picture: Picture): Promise<Sighting>
  /** Everything about one sample; null without a face. */
  measure(picture: Picture): Promise<Measured | null>
  /** The feature vector of the best sample measured since `begin`. */
  embed(id: EmbeddingId): Promise<Float32Array>
  /**
   * Keeps the vector of the best sample measured since `begin` for `comparePortrait`, until `forgetComparison`: captures that
   * begin later do not change it. The best sample is sharp, well lit and frontal.
   */
  keepFace(): void
  /**
   * Searches these areas of a picture of a document for its portrait, which is kept for `comparePortrait`. A picture without a
   * portrait forgets the one before: that one may be of another document.
   */
  findPortrait(picture: Picture, areas: readonly PortraitArea[]): Promise<PortraitSighting>
  /** The score of the kept face and the kept portrait, from 0 to 1; undefined while one of them is missing. */
  comparePortrait(): number | undefined
  /** Forgets the kept face and the kept portrait. */
  forgetComparison(): void
  /** Starts a new capture: forgets samples and faces. With `ages` false no age is estimated until the next `begin`. */
  begin(options?: { ages: boolean }): void
  /** Loads nets and runs each once, so that the first picture does not wait. */
  warmUp(nets?: readonly NetId[]): Promise<void>
  /** For tools: the portrait's FACE3_3 vector, where one was found. Nothing is kept. */
  embedPortrait(picture: Picture, areas: readonly PortraitArea[]): Promise<EmbeddedPortrait>
  embedFace(picture: Picture, face: SeenFace, id: EmbeddingId): Promise<Float32Array>
  estimateAge(picture: Picture, face: SeenFace): Promise<number>
  /** The score of the passive liveness check for one picture: 1 is certainly live. */
  passiveLive(picture: Picture, face: SeenFace): Promise<number>
}

export interface EmbeddedPortrait {
  sighting: PortraitSighting
  vector: Float32Array | undefined
}

export interface FaceEngineOptions {
  load: LoadNet
  /** Milliseconds; paces the search for a second face. Without it a picture counts as a tenth of a second. */
  now?: () => number
  /** Ages are estimated for at most this many samples after `begin`: more samples do not improve the estimate and take time. */
  agedMax?: number
}

/** The nets of look(), and those that measure() needs in addition. */
export const LOOK_NETS = ['blazeface', 'facemesh', 'fr_eye'] as const satisfies readonly NetId[]
export const MEASURE_NETS = ['fr_liveness', 'fr_feature', 'fa_age', 'faceres_deep'] as const satisfies readonly NetId[]

interface Best {
  score: number
  vector: Float32Array
  /** For the other embedding, so that no picture need be kept. */
  crop: Crop
}

/** The two vectors never leave the engine: only their score does. */
interface Comparison {
  face?: Float32Array
  portrait?: Float32Array | undefined
}

export function createFaceEngine({ load, now, agedMax = Number.POSITIVE_INFINITY }: FaceEngineOptions): FaceEngine {
  const nets = createNets(load)
  const tracker = createTracker(nets, now)
  let first: Float32Array | undefined
  let best: Best | undefined
  let aged = 0
  let wantsAges = true
  let kept: Comparison = {}

  return {
    async look(picture) {
      const { faces, mesh } = await tracker.find(picture)
      return { faces, face: mesh ? await describe(nets, picture, mesh) : null }
    },

    async measure(picture) {
      const { mesh } = await tracker.find(picture, { precise: true })
      if (!mesh) return null
      const face = await describe(nets, picture, mesh)
      const live = await passiveLive(nets, picture, face)
      const vector = await embedCrop(nets, EMBEDDING.FACE3_3.crop(picture, mesh), 'FACE3_3')
      const sameness = first && cosine(first, vector)
      first ??= vector
      const { score } = face.quality
      if (score > (best?.score ?? -1)) best = { score, vector, crop: EMBEDDING.FACE3_1.crop(picture, mesh) }
      const ageYears =
        wantsAges && aged < agedMax && isAgeable(face) ? await estimateAge(nets, picture, face) : undefined
      if (ageYears !== undefined) aged++
      return { face, ageYears, live, sameness, digest: await digestOf(quantise(vector).values) }
    },

    async embed(id) {
      if (!best) throw new Error('Nothing was measured, so there is nothing to embed')
      return id === 'FACE3_3' ? best.vector : embedCrop(nets, best.crop, id)
    },

    keepFace() {
      if (!best) throw new Error('Nothing was measured, so there is no face to keep')
      kept.face = best.vector
    },

    async findPortrait(picture, areas) {
      const { sighting, vector } = await embedPortrait(nets, picture, areas)
      kept.portrait = vector
      return sighting
    },

    comparePortrait() {
      return kept.face && kept.portrait && matchScore(kept.face, kept.portrait)
    },

    forgetComparison() {
      kept = {}
    },

    begin({ ages } = { ages: true }) {
      wantsAges = ages
      tracker.forget()
      first = undefined
      best = undefined
      aged = 0
    },

    async warmUp(ids = [...LOOK_NETS, ...MEASURE_NETS]) {
      for (const id of ids) await nets.warmUp(id)
    },

    embedPortrait: (picture, areas) => embedPortrait(nets, picture, areas),
    embedFace: (picture, { mesh }, id) => embedCrop(nets, EMBEDDING[id].crop(picture, mesh), id),
    estimateAge: (picture, face) => estimateAge(nets, picture, face),
    passiveLive: (picture, face) => passiveLive(nets, picture, face),
  }
}

async function describe(nets: Nets, picture: Picture, mesh: Float32Array): Promise<SeenFace> {
  const box = boxOf(mesh)
  const pose = poseOf(mesh)
  const grey = alignedGrey(picture, mesh)
  const eyes = await lookAtEyes(nets, { picture, mesh, yaw: pose.yaw })
  return {
    mesh,
    box,
    pose,
    eyes,
    size: box.width / picture.width,
    quality: measureQuality({ picture, mesh, box, pose, grey }),
    covered: findCovered({ picture, mesh, box, grey, eyes, yaw: pose.yaw }),
  }
}

interface EyesInput {
  picture: Picture
  mesh: Float32Array
  yaw: number
}

/** Most eyes are open and a first look says so. The others are looked at again: each run of the net delays the guidance. */
async function lookAtEyes(nets: Nets, { picture, mesh, yaw }: EyesInput): Promise<number> {
  const shut: [number[], number[]] = [[], []]
  const aspects = eyeAspects(mesh)
  let open = 0
  for (const margins of EYE_LOOKS) {
    for (const [side, inputs] of eyeInputs(picture, mesh, margins).entries())
      for (const input of inputs) shut[side]?.push(readShut(await nets.run('fr_eye', input)))
    open = openness({ shut, aspects, yaw })
    if (open >= SURELY_OPEN) break
  }
  return open
}

async function embedCrop(nets: Nets, crop: Crop, id: EmbeddingId): Promise<Float32Array> {
  const { net, input, read } = EMBEDDING[id]
  return read(await nets.run(net, input(crop)))
}

async function embedPortrait(nets: Nets, picture: Picture, areas: readonly PortraitArea[]): Promise<EmbeddedPortrait> {
  const { sighting, crop } = await findPortrait(nets, picture, areas)
  return { sighting, vector: crop && (await embedCrop(nets, crop, 'FACE3_3')) }
}

async function estimateAge(nets: Nets, picture: Picture, { mesh }: SeenFace): Promise<number> {
  const fa = readFa(await nets.run('fa_age', faInput(picture, mesh)))
  return combineAges(fa, readDeep(await nets.run('faceres_deep', deepInput(picture, mesh))))
}

async function passiveLive(nets: Nets, picture: Picture, { box }: SeenFace): Promise<number> {
  return readPassive(await nets.run('fr_liveness', passiveInput(picture, box)))
}
