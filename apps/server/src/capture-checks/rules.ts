import { LAUNCH_LIMITS } from '@ostiary/contract'

/**
 * Limits that the capture of a living, cooperative person stays within. The numbers were set by reasoning and by the simulated
 * person; a set of real captures is to correct them. A rule that can hit an honest person leads to another try
 * (LIVENESS_INCONCLUSIVE). Only what no camera and no page of ours can produce ends the flow as VIDEO_SPOOF.
 *
 * Units are those of the contract: milliseconds, tenths of a degree and of a year, thousandths for the rest.
 */
export const CAPTURE_RULES = {
  steps: LAUNCH_LIMITS.movements,
  /** Time for users to find their picture before the first movement is asked for. */
  firstStepMs: { min: 800, max: 1500 },
  /** Time to read or hear, do and undo a movement; its end may reach into the next one. A screen reader takes a second for it. */
  stepGapMs: { min: 2400, max: 3100 },
  /** The capture goes on this long after the last movement was asked for. */
  tailMs: 2200,
  /** A phone needs this long for one frame: detection, landmarks, age. */
  sampleGapMsMin: 120,
  sampleFirstMsMin: 100,
  /**
   * When frames are sampled, counted from the moment when the step is shown. The samples are so close that a movement of half a
   * second cannot fall between two of them, and go on so long that a person who starts after a second and a half is recorded
   * too. With four samples in 1.3 seconds, the first version, people who took a second failed in four of ten tries.
   */
  stepSamples: { count: 5, firstMs: { min: 300, max: 390 }, gapMs: { min: 380, max: 450 } },

  /** A page drops a frame that it gets later than this, so a frame further off belongs to no sample of this challenge. */
  frameLateMsMax: 250,
  /** The picture at hand when a sample is due may be two camera frames old. */
  frameEarlyMsMax: 70,
  /** Slow devices miss frames; when more are missing, movements cannot be recognised any more. */
  missingShareMax: 0.2,
  /** Pairs of frames whose measurements may agree to the last digit by coincidence. */
  alikeFramesMax: 1,
  /** Measurements of a living face vary by more than this. A capture in which all vary less is a still picture. */
  still: { yaw: 10, pitch: 10, eyes: 40, size: 10 },

  /** Twelve degrees and eight: a person who looks into a camera does not move as far unintentionally. */
  turn: 120,
  lookUp: 80,
  /** In thousandths of the open eyes before the first step. */
  eyesShut: 350,
  /** In thousandths of the width before the first step. */
  closer: 1150,
  /** No one answers faster than this. */
  seenFromMs: 150,
  seenUntilMs: 2500,
  /** A movement before this is not an answer to the step. */
  earlyUntilMs: 100,
  /** From here on the previous movement is over, for a person who starts within 1.4 seconds and takes 800 ms. */
  restFromMs: 2200,
  /** Steps that may contain a head movement that was not asked for. With more, the capture shows all movements instead of answers. */
  unaskedStepsMax: 1,
  /** Frames of a step with shut eyes, of all its frames, from which on they are no blink by chance. */
  flutter: { framesMin: 2, share: 0.3 },
  /** Answers in the log from which their spread says something. */
  latenciesMin: LAUNCH_LIMITS.movements,
  /** From `movement_shown` to `movement_seen`. */
  latencyMs: { min: 150, max: 3000 },
  /**
   * Three answers whose latencies differ by at most `program` come from a program: it happens to about one person in some ten
   * thousands. Up to `doubtful` it happens to one in some thousands, so that only costs a try.
   */
  latencySpreadMs: { program: 1, doubtful: 5 },
  /** The clocks of frames and log may differ by this. */
  logSlackMs: 100,

  agedFramesMin: LAUNCH_LIMITS.framesMin,
  /** Frames below this quality are too poor for an estimate; our page gives them no age. */
  agedQualityMin: 350,
  /** The device rounds, and may round in another order than we do. */
  ageSlack: 5,
  spreadSlack: 10,
  /** Six years between frames of one face: the light is poor, or it is not one face. */
  spreadMax: 60,
  /** The range of measurements that landmarks of a real face can have. */
  human: {
    yawMax: 750,
    pitchMax: 600,
    rollMax: 600,
    sizeMin: 80,
    sizeMax: 980,
    /** The page calls eyes below it closed (AGEABLE in @ostiary/faces), so nobody whom it calls well placed is refused here. */
    openEyesMin: 120,
    ageMin: 10,
    ageMax: 1100,
  },

  /** Of the passive check: attacks measured at most 0.04, living faces at least 0.79 (a small set). */
  liveSpoofBelow: 300,
  liveSureFrom: 500,

  /** A person needs longer than this to read and answer. */
  consentMsMin: 250,
  /** From opening the page to the end of a capture: three movements alone take longer. */
  captureMsMin: 2500,
  idleMs: 5 * 60_000,
  instantMs: 300,
  retakesMax: LAUNCH_LIMITS.attempts - 1,
  /** Computers that sleep set their monotonic clock back; once is forgiven. */
  regressionsMax: 1,
} as const
