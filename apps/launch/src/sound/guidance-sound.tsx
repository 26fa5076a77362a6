import type { JSX } from 'preact'
import { useEffect, useRef, useState } from 'preact/hooks'
import type { Texts } from '../texts/languages.ts'
import { type Cue, playCue } from './cues.ts'
import { createBrowserVoice, createSpeech, watchVoices } from './speech.ts'
import { createBrowserTones, createTone, type Tones } from './tone.ts'

interface Props {
  /** What the screen says now. */
  text: string
  /** The text is of no use later: it cuts off the one before. */
  isUrgent?: boolean
  /** 0 to 1; null: no tone. */
  sharpness?: number | null
  /** The tone of the last change: a new object for each. */
  cue?: { kind: Cue } | null
  texts: Texts
  nowMs(): number
  /** When sound is on, also because it was on before. */
  onOn?: () => void
}

interface Sound {
  speech: ReturnType<typeof createSpeech> | null
  tone: ReturnType<typeof createTone> | null
  tones: Tones | null
  close(): void
}

/** Kept while the page is open, so that the next screen goes on speaking. */
let wanted = false

/** A switch for spoken guidance and tones. Off at first. Without a voice for the language there are tones only. */
export function GuidanceSound(props: Props): JSX.Element {
  const { text, isUrgent = false, sharpness = null, cue = null, texts, nowMs, onOn } = props
  const { t, tag } = texts
  const [on, setOn] = useState(wanted)
  const [hasVoice, setHasVoice] = useState<boolean | null>(null)
  const sound = useRef<Sound | null>(null)
  useEffect(() => {
    if (on) {
      sound.current = openSound()
      onOn?.()
    }
    return () => {
      sound.current?.close()
      sound.current = null
    }
  }, [on])
  useEffect(() => (on ? watchVoices(tag, setHasVoice) : undefined), [on, tag])
  useEffect(() => {
    let timer: ReturnType<typeof setTimeout> | undefined
    const speech = hasVoice ? sound.current?.speech : null
    const say = () => {
      const waitMs = speech?.say(text, tag, nowMs()) ?? null
      if (waitMs !== null) timer = setTimeout(say, waitMs)
    }
    if (isUrgent) speech?.sayNow(text, tag)
    else say()
    return () => clearTimeout(timer)
  }, [text, tag, on, hasVoice])
  useEffect(() => {
    if (sharpness !== null) sound.current?.tone?.hear(sharpness, nowMs())
  }, [sharpness, on])
  useEffect(() => {
    const tones = sound.current?.tones
    if (cue && tones) playCue(cue.kind, tones)
  }, [cue])
  const toggle = () => {
    wanted = !on
    setOn(!on)
  }
  return (
    <>
      <button type="button" class="chip" data-action="sound" aria-pressed={on} onClick={toggle}>
        {t(on ? 'sound.off' : 'sound.on')}
      </button>
      <p class={on && hasVoice === false ? 'small' : 'unseen'} role="status">
        {on && hasVoice === false ? t('sound.noVoice') : ''}
      </p>
    </>
  )
}

function openSound(): Sound {
  const voice = createBrowserVoice()
  const tones = createBrowserTones()
  return {
    speech: voice && createSpeech(voice),
    tone: tones && createTone(tones),
    tones,
    close() {
      voice?.stop()
      tones?.close()
    },
  }
}
