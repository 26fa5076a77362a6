import type { JSX } from 'preact'
import { useEffect, useRef, useState } from 'preact/hooks'
import type { Texts } from '../texts/languages.ts'
import type { Cue } from './cues.ts'
import type { Sound } from './open-sound.ts'

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

/** Kept while the page is open, so that the next screen goes on speaking. */
let wanted = false

/** A switch for spoken guidance and tones. Off at first. Without a voice for the language there are tones only. */
export function GuidanceSound(props: Props): JSX.Element {
  const { text, isUrgent = false, sharpness = null, cue = null, texts, nowMs, onOn } = props
  const { t, tag } = texts
  const [on, setOn] = useState(wanted)
  const [hasVoice, setHasVoice] = useState<boolean | null>(null)
  const [sound, setSound] = useState<Sound | null>(null)
  const context = useRef<AudioContext | null>(null)
  useEffect(() => {
    if (!on) return undefined
    let opened: Sound | null = null
    let isLeft = false
    onOn?.()
    import('./open-sound.ts').then(
      ({ openSound }) => {
        if (isLeft) return
        opened = openSound(context.current ?? createContext())
        setSound(opened)
      },
      // Without a connection it stays silent; the next press tries again.
      () => setOn(false),
    )
    return () => {
      isLeft = true
      if (opened) opened.close()
      // The tap made it, and what plays on it did not load in time.
      else context.current?.close().catch(() => {})
      context.current = null
      setSound(null)
    }
  }, [on])
  useEffect(() => sound?.watchVoices(tag, setHasVoice), [sound, tag])
  useEffect(() => {
    let timer: ReturnType<typeof setTimeout> | undefined
    const say = () => {
      const waitMs = sound?.say(text, tag, nowMs()) ?? null
      if (waitMs !== null) timer = setTimeout(say, waitMs)
    }
    if (hasVoice && isUrgent) sound?.sayNow(text, tag)
    else if (hasVoice) say()
    return () => clearTimeout(timer)
  }, [text, tag, sound, hasVoice])
  useEffect(() => {
    if (sharpness !== null) sound?.hear(sharpness, nowMs())
  }, [sharpness, sound])
  useEffect(() => {
    if (cue) sound?.play(cue.kind)
  }, [cue])
  const toggle = () => {
    wanted = !on
    // In the tap itself: browsers stay silent otherwise.
    if (wanted) context.current = createContext()
    setOn(wanted)
  }
  return (
    <>
      {/* Its words say what a press does, so it has no `aria-pressed`: "Stop reading, pressed" would be a riddle. */}
      <button type="button" class="chip" data-action="sound" data-on={on ? '' : undefined} onClick={toggle}>
        {t(on ? 'sound.off' : 'sound.on')}
      </button>
      <p class={on && hasVoice === false ? 'small' : 'unseen'} role="status">
        {on && hasVoice === false ? t('sound.noVoice') : ''}
      </p>
    </>
  )
}

/** Null where the browser has no Web Audio. */
function createContext(): AudioContext | null {
  return typeof AudioContext === 'undefined' ? null : new AudioContext()
}
