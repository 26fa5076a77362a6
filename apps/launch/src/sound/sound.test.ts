import assert from 'node:assert/strict'
import { test } from 'node:test'
import { CUES, cueBetween, playCue } from './cues.ts'
import { createSpeech } from './speech.ts'
import { createTone, frequencyOf, gapMsOf } from './tone.ts'
import { hasVoiceFor } from './voices.ts'

test('the tone rises with the sharpness of the picture, and its repetitions come closer', () => {
  const steps = [0, 0.25, 0.5, 0.75, 1]
  const rises = (values: number[]) => values.every((value, index) => index === 0 || value > (values[index - 1] ?? 0))
  assert.ok(rises(steps.map(frequencyOf)))
  assert.ok(rises(steps.map(gapMsOf).reverse()))
  assert.equal(frequencyOf(7), frequencyOf(1))
  assert.equal(frequencyOf(-1), frequencyOf(0))
})

test('pictures that come faster than the tone may repeat are not heard', () => {
  const played: number[] = []
  const tone = createTone({ play: (hz) => void played.push(hz), close: () => {} })
  for (let nowMs = 0; nowMs < 1_000; nowMs += 50) tone.hear(1, nowMs)
  assert.equal(played.length, 3)
  assert.deepEqual(new Set(played), new Set([frequencyOf(1)]))
})

function fakeVoice() {
  const spoken: string[] = []
  let speaking = false
  const voice = {
    isSpeaking: () => speaking,
    speak(text: string, language: string) {
      spoken.push(`${language}: ${text}`)
      speaking = true
    },
    stop: () => {
      speaking = false
    },
  }
  return { voice, spoken, end: () => voice.stop() }
}

test('guidance is spoken in the language of the page, once, and never over the sentence before', () => {
  const { voice, spoken, end } = fakeVoice()
  const speech = createSpeech(voice)
  assert.equal(speech.say('Closer, please', 'en', 0), null)
  assert.notEqual(speech.say('Turn it over', 'en', 2_000), null, 'the first sentence is still spoken')
  end()
  assert.equal(speech.say('Closer, please', 'en', 2_100), null)
  assert.equal(speech.say('Good. Hold still', 'en', 2_200), null)
  assert.deepEqual(spoken, ['en: Closer, please', 'en: Good. Hold still'])
})

test('guidance that changes quickly waits until the listener can follow', () => {
  const { voice, spoken, end } = fakeVoice()
  const speech = createSpeech(voice)
  speech.say('Closer, please', 'de', 0)
  end()
  const waitMs = speech.say('Good. Hold still', 'de', 100)
  assert.ok(waitMs !== null && waitMs > 0)
  assert.deepEqual(spoken, ['de: Closer, please'])
})

test('a movement is spoken at once, over the sentence before, and only once', () => {
  const { voice, spoken } = fakeVoice()
  const speech = createSpeech(voice)
  speech.say('Get ready', 'en', 0)
  speech.sayNow('Look up', 'en')
  speech.sayNow('Look up', 'en')
  assert.deepEqual(spoken, ['en: Get ready', 'en: Look up'])
})

test('each movement has a tone, each one seen has another, and the end a third; nothing else has one', () => {
  const view = { phase: 'challenge', movement: null, movementsSeen: 0 } as const
  const asked = { ...view, movement: 'blink' } as const
  const seen = { ...view, movementsSeen: 1 }
  const next = { ...seen, movement: 'closer' } as const
  const steps = [
    null,
    { ...view, phase: 'find' } as const,
    view,
    asked,
    asked,
    seen,
    next,
    { ...seen, phase: 'measure' } as const,
  ]
  const cues = steps.slice(1).map((now, index) => cueBetween(steps[index] ?? null, now))
  assert.deepEqual(cues, [null, null, 'now', null, 'seen', 'now', 'done'])
})

test('the tones of a cue follow each other', () => {
  const played: { hz: number; after: number }[] = []
  playCue('done', { play: (hz, _seconds, after = 0) => void played.push({ hz, after }), close: () => {} })
  assert.deepEqual(
    played.map(({ hz }) => hz),
    CUES.done,
  )
  assert.ok(played.every(({ after }, index) => index === 0 || after > (played[index - 1]?.after ?? 0)))
})

test('a voice counts only for its own language, however the system spells it', () => {
  const voices = ['en_US', 'de-DE', 'no-NO', 'tl-PH', 'zh-TW', 'iw-IL', 'pt-BR']
  const found = ['en', 'de', 'nb', 'fil', 'zh-Hant', 'he', 'pt'].map((tag) => hasVoiceFor(tag, voices))
  assert.deepEqual(found, Array(found.length).fill(true))
  const missing = ['ga', 'mt', 'ur', 'zh-Hans', 'e', 'nl'].map((tag) => hasVoiceFor(tag, voices))
  assert.deepEqual(missing, Array(missing.length).fill(false))
  assert.equal(hasVoiceFor('en', []), false)
})
