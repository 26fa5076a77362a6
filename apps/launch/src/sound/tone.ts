/** The part of a browser's AudioContext that is used here. */
export interface Tones {
  /** One short tone, now or after a while. */
  play(frequencyHz: number, seconds: number, afterSeconds?: number): void
  close(): void
}

/** From well blurred to sharp: one octave and a half, as far as small loudspeakers carry it. */
const LOWEST_HZ = 330
const OCTAVES = 1.5
const TONE_SECONDS = 0.09
/** Ever faster towards a sharp picture, but never a continuous sound. */
const GAP_MS = { blurred: 900, sharp: 320 } as const

export function frequencyOf(sharpness: number): number {
  return LOWEST_HZ * 2 ** (OCTAVES * share(sharpness))
}

export function gapMsOf(sharpness: number): number {
  return GAP_MS.blurred + (GAP_MS.sharp - GAP_MS.blurred) * share(sharpness)
}

const share = (value: number) => Math.max(0, Math.min(1, value))

/** A tone that rises with the sharpness of the picture, for users who cannot see it. */
export function createTone(tones: Tones) {
  let lastMs = Number.NEGATIVE_INFINITY
  return {
    /** Call it for every picture. */
    hear(sharpness: number, nowMs: number): void {
      if (nowMs - lastMs < gapMsOf(sharpness)) return
      lastMs = nowMs
      tones.play(frequencyOf(sharpness), TONE_SECONDS)
    },
  }
}

export function createBrowserTones(context: AudioContext): Tones {
  return {
    play(frequencyHz, seconds, afterSeconds = 0) {
      const oscillator = context.createOscillator()
      const volume = context.createGain()
      const start = context.currentTime + afterSeconds
      const end = start + seconds
      oscillator.frequency.value = frequencyHz
      // Fades out, so that the end does not click.
      volume.gain.setValueAtTime(0.12, start)
      volume.gain.exponentialRampToValueAtTime(0.001, end)
      oscillator.connect(volume).connect(context.destination)
      oscillator.start(start)
      oscillator.stop(end)
    },
    close: () => void context.close().catch(() => {}),
  }
}
