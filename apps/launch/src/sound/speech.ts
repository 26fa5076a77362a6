import { createAnnouncer } from '../flow/announcer.ts'

/** The part of a browser's speech synthesis that is used here. */
export interface Voice {
  isSpeaking(): boolean
  speak(text: string, language: string): void
  stop(): void
}

/** How long to wait for the end of the sentence before. */
const WAIT_MS = 300

/**
 * Speaks guidance at a rate that can be followed. A text waits until the one before is spoken to its end; of several that wait, only the
 * latest is spoken.
 */
export function createSpeech(voice: Voice) {
  const announcer = createAnnouncer()
  return {
    /** Returns the time after which to call it again with the latest text; null: no need. */
    say(text: string, language: string, nowMs: number): number | null {
      if (voice.isSpeaking()) return WAIT_MS
      const { text: due, waitMs } = announcer.next(text, nowMs)
      if (due !== null) voice.speak(due, language)
      return waitMs
    },
  }
}

/** Null where the browser cannot speak. */
export function createBrowserVoice(): Voice | null {
  if (typeof speechSynthesis === 'undefined' || typeof SpeechSynthesisUtterance === 'undefined') return null
  return {
    isSpeaking: () => speechSynthesis.speaking,
    speak(text, language) {
      const utterance = new SpeechSynthesisUtterance(text)
      utterance.lang = language
      speechSynthesis.speak(utterance)
    },
    stop: () => speechSynthesis.cancel(),
  }
}
