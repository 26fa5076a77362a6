import { LAUNCH_LIMITS } from '@ostiary/contract'

/**
 * What a capture of a living, cooperative person keeps to. The numbers were set by reasoning and by the simulated person;
 * a set of real captures is to correct them. Where a rule can hit an honest person its answer is another try
 * (LIVENESS_INCONCLUSIVE); only what no camera and no page of ours can produce ends the flow as VIDEO_SPOOF.
 *
 * Units are those of the wire: milliseconds, tenths of a degree and of a year, thousandths for the rest.
 */
export const CAPTURE_RULES = {
  steps: LAUNCH_LIMITS.movements,
  /** Time to find one's picture before the first movement is asked for. */
  firstStepMs: { min: 800, max: 1500 },
  /** Time to read or hear, do and undo a movement; its end may reach into the next one. A screen reader takes a second for it. */
  stepGapMs: { min: 2400, max: 3100 },
  /** The capture goes on this long after the last movement was asked for. */
  tailMs: 2200,
  /** A phone needs this long for one frame: detection, landmarks, age. */
  sampleGapMsMin: 120,
  sampleFirstMsMin: 100,
  /**
   * When a step is sampled, counted from its asking: so near to each other that a movement which is held for half a second
   * cannot fall between two of them, and so long that someone who needs a second and a half to begin is seen too. With four
   * samples in 1.3 seconds, as it was at first, people who took a second failed in four of ten tries.
   */
  stepSamples: { count: 5, firstMs: { min: 300, max: 390 }, gapMs: { min: 380, max: 450 } },

  /** A page drops a frame that it gets later than this, so a frame further off belongs to no sample of this challenge. */
  frameLateMsMax: 250,
  /** The picture at hand when a sample is due may be two camera frames old. */
  frameEarlyMsMax: 70,
  /** Slow devices miss frames; with more missing, movements can no longer be told. */
  missingShareMax: 0.2,
  /** Pairs of frames whose measurements agree to the last digit by chance. */
  alikeFramesMax: 1,
  /** Measurements of a living face differ by more than this; below it all over the capture it is a still. */
  still: { yaw: 10, pitch: 10, eyes: 40, size: 10 },

  /** Twelve degrees and eight: nobody who looks into a camera moves as far without meaning to. */
  turn: 120,
  lookUp: 80,
  /** In thousandths of the open eyes before the first step. */
  eyesShut: 350,
  /** In thousandths of the width before the first step. */
  closer: 1150,
  /** No one answers faster than this. */
  seenFromMs: 150,
  seenUntilMs: 2500,
  /** What is seen before this was not an answer. */
  earlyUntilMs: 100,
  /** From here on the movement before is over, for someone who begins within 1.4 seconds and takes 800 ms. */
  restFromMs: 2200,
  /** In how many steps a head movement that nobody asked for makes it a show rather than an answer. */
  unaskedStepsMax: 1,
  /** From `movement_shown` to `movement_seen`. */
  latencyMs: { min: 150, max: 3000 },
  /**
   * Three answers this near to each other are a program's. By chance it happens to one person in some ten thousands; up to
   * the second number, one in some thousands, so that only costs a try.
   */
  latencySpreadMs: { program: 1, doubtful: 5 },
  /** Clocks of frames and log may differ by this. */
  logSlackMs: 100,

  agedFramesMin: LAUNCH_LIMITS.framesMin,
  /** Frames below it are too poor for an estimate; a page gives them none. */
  agedQualityMin: 350,
  /** The device rounds, and may round in another order than we do. */
  ageSlack: 5,
  spreadSlack: 10,
  /** Six years between frames of one face: the light is poor, or it is not one face. */
  spreadMax: 60,
  /** What landmarks of a face can give. */
  human: {
    yawMax: 750,
    pitchMax: 600,
    rollMax: 600,
    sizeMin: 80,
    sizeMax: 980,
    openEyesMin: 150,
    ageMin: 10,
    ageMax: 1100,
  },

  /** Of the passive check: attacks measured at most 0.04, living faces at least 0.79 (a small set). */
  liveSpoofBelow: 300,
  liveSureFrom: 500,

  /** Reading and answering takes longer. */
  consentMsMin: 250,
  /** From opening the page to the end of a capture: three movements alone take longer. */
  captureMsMin: 2500,
  idleMs: 5 * 60_000,
  instantMs: 300,
  retakesMax: LAUNCH_LIMITS.attempts - 1,
  /** Computers that sleep set their monotonic clock back; once is forgiven. */
  regressionsMax: 1,
} as const
