import type { JSX } from 'preact'
import { useEffect, useRef, useState } from 'preact/hooks'
import { createBrowserVoice, createSpeech } from './speech.ts'
import { createBrowserTones, createTone } from './tone.ts'

interface Props {
  /** What the screen says now. */
  text: string
  /** Of the text, as a BCP 47 tag. */
  language: string
  /** 0 to 1; null: no tone. */
  sharpness: number | null
  nowMs(): number
  labels: { on: string; off: string }
}

interface Sound {
  speech: ReturnType<typeof createSpeech> | null
  tone: ReturnType<typeof createTone> | null
  close(): void
}

/** Kept while the page is open, so that the next screen goes on speaking. */
let wanted = false

/** A switch for spoken guidance and a tone that rises with the sharpness of the picture. Off at first. */
export function GuidanceSound({ text, language, sharpness, nowMs, labels }: Props): JSX.Element {
  const [on, setOn] = useState(wanted)
  const sound = useRef<Sound | null>(null)
  useEffect(() => {
    if (on) sound.current = openSound()
    return () => {
      sound.current?.close()
      sound.current = null
    }
  }, [on])
  useEffect(() => {
    let timer: ReturnType<typeof setTimeout> | undefined
    const say = () => {
      const waitMs = sound.current?.speech?.say(text, language, nowMs()) ?? null
      if (waitMs !== null) timer = setTimeout(say, waitMs)
    }
    say()
    return () => clearTimeout(timer)
  }, [text, language, on])
  useEffect(() => {
    if (sharpness !== null) sound.current?.tone?.hear(sharpness, nowMs())
  }, [sharpness, on])
  const toggle = () => {
    wanted = !on
    setOn(!on)
  }
  return (
    <button type="button" class="chip" data-action="sound" aria-pressed={on} onClick={toggle}>
      {on ? labels.off : labels.on}
    </button>
  )
}

function openSound(): Sound {
  const voice = createBrowserVoice()
  const tones = createBrowserTones()
  return {
    speech: voice && createSpeech(voice),
    tone: tones && createTone(tones),
    close() {
      voice?.stop()
      tones?.close()
    },
  }
}
