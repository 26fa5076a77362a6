import { createAnnouncer } from '../flow/announcer.ts'
import { hasVoiceFor } from './voices.ts'

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
  let lastUrgent = ''
  return {
    /** Returns the time after which to call it again with the latest text; null: no need. */
    say(text: string, language: string, nowMs: number): number | null {
      lastUrgent = ''
      if (voice.isSpeaking()) return WAIT_MS
      const { text: due, waitMs } = announcer.next(text, nowMs)
      if (due !== null) voice.speak(due, language)
      return waitMs
    },
    /** For a text that is of no use later, such as a movement: cuts off the sentence before. */
    sayNow(text: string, language: string): void {
      if (text === '' || text === lastUrgent) return
      lastUrgent = text
      voice.stop()
      voice.speak(text, language)
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

/** Browsers list their voices late. After this time without any there are none. */
const VOICES_MS = 1_500

/** Tells whether the system has a voice for the language, now and whenever that changes. Returns how to stop. */
export function watchVoices(language: string, onChange: (hasVoice: boolean) => void): () => void {
  if (typeof speechSynthesis === 'undefined') {
    onChange(false)
    return () => {}
  }
  const tell = () =>
    onChange(
      hasVoiceFor(
        language,
        speechSynthesis.getVoices().map(({ lang }) => lang),
      ),
    )
  const timer = setTimeout(tell, VOICES_MS)
  if (speechSynthesis.getVoices().length > 0) tell()
  // Older WebKit has no events here.
  speechSynthesis.addEventListener?.('voiceschanged', tell)
  return () => {
    clearTimeout(timer)
    speechSynthesis.removeEventListener?.('voiceschanged', tell)
  }
}
