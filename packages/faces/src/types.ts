/** A camera picture: RGBA, row by row, as a canvas gives it. Not mirrored. */
export interface Picture {
  width: number
  height: number
  data: Uint8ClampedArray
}

export interface Point {
  x: number
  y: number
}

export interface Box {
  x: number
  y: number
  width: number
  height: number
}

/** Degrees. The person's own left is positive, up is positive, a head leaning towards their left shoulder is positive. */
export interface Pose {
  yaw: number
  pitch: number
  roll: number
}

export interface Tensor {
  dims: readonly number[]
  data: Float32Array
}

/** The nets, by the ids they have in the models' manifest. */
export const NETS = [
  'blazeface',
  'facemesh',
  'fr_feature',
  'dlib',
  'fa_age',
  'faceres_deep',
  'fr_eye',
  'fr_liveness',
] as const
export type NetId = (typeof NETS)[number]

/** One net, ready to run. Every net we use has one input; outputs go by name. */
export interface Net {
  run(input: Tensor): Promise<Readonly<Record<string, Tensor>>>
}

/** Loads a net: over HTTP in the page's worker, from disk in tools. Called once per net, when it is first needed. */
export type LoadNet = (id: NetId) => Promise<Net>

/** Embeddings by the names of area E. */
export const EMBEDDINGS = ['FACE3_3', 'FACE3_1'] as const
export type EmbeddingId = (typeof EMBEDDINGS)[number]

/** How good a picture of a face is; each from 0 to 1, and `score` over all of them. */
export interface Quality {
  score: number
  sharpness: number
  brightness: number
  /** From the dark parts of the face to its light ones. */
  signal: number
  /** How evenly the face is lit; a strong light behind it lowers `backlight`. */
  contrast: number
  backlight: number
  frontal: number
  size: number
}

/** The quick result for one picture. Without a face only `faces` has a meaning. */
export interface Sighting {
  /** How many faces there are: 0, 1, or more. */
  faces: number
  face: SeenFace | null
}

export interface SeenFace {
  /** 468 points, x y z each, in pixels of the picture. */
  mesh: Float32Array
  /** Tight box of the mesh. */
  box: Box
  pose: Pose
  /** How far the better eye is open: 0 shut, about 1 open as usual. */
  eyes: number
  /** Width of the face by the width of the picture. */
  size: number
  quality: Quality
  /** What hides a part of the face. */
  covered: Covered | null
}

/** `eyes`: both, behind dark glass. `mouth`: nose and mouth, under a mask. */
export type Covered = 'eyes' | 'mouth'

/** What the page asks the user to do about the picture, one code at a time. */
export const GUIDANCE = [
  'no_face',
  'one_face_only',
  'too_dark',
  'too_bright',
  'backlit',
  'too_far',
  'too_close',
  'move_left',
  'move_right',
  'move_up',
  'move_down',
  'tilt_left',
  'tilt_right',
  'look_straight',
  'eyes_closed',
  'eyes_hidden',
  'remove_mask',
  'blurry',
  'hold_still',
  'in_oval',
] as const
export type Guidance = (typeof GUIDANCE)[number]

/** A sample measured in full. */
export interface Measured {
  face: SeenFace
  /** Absent when the picture is not good enough for an estimate. */
  ageYears: number | undefined
  /** The score of the passive check: 1 is certainly live. */
  live: number
  /** Cosine with the first measured face of this capture, to check that it is still the same person; undefined for the first. */
  sameness: number | undefined
  /** First 8 bytes of SHA-256 over the features, base64url: equal digests are the same picture. */
  digest: string
}
