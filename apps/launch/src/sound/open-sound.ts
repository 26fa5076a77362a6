import { type Cue, playCue } from './cues.ts'
import { createBrowserVoice, createSpeech, watchVoices } from './speech.ts'
import { createBrowserTones, createTone } from './tone.ts'

/** Everything that sounds. It is loaded when a user wants it. */
export function openSound(context: AudioContext | null) {
  const voice = createBrowserVoice()
  const speech = voice && createSpeech(voice)
  const tones = context && createBrowserTones(context)
  const tone = tones && createTone(tones)
  return {
    /** Returns the time after which to call it again with the latest text; null: no need. */
    say(text: string, language: string, nowMs: number): number | null {
      return speech?.say(text, language, nowMs) ?? null
    },
    sayNow: (text: string, language: string) => speech?.sayNow(text, language),
    hear: (sharpness: number, nowMs: number) => tone?.hear(sharpness, nowMs),
    play: (cue: Cue) => tones && playCue(cue, tones),
    watchVoices,
    close() {
      voice?.stop()
      tones?.close()
    },
  }
}
export type Sound = ReturnType<typeof openSound>
