/**
 * Makes the puppet: an animated portrait for Chromium's fake camera, as a clip or as a live camera (README.md). Without options it
 * prints its usage.
 */
import { existsSync, readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { createInterface } from 'node:readline'
import { parseArgs } from 'node:util'
import { MOVEMENTS, type Movement } from '@ostiary/contract'
import { CAMERA_SIZE, makeClip } from './clip.ts'
import { type HeldThing, type LiveCamera, type LiveOptions, startLiveCamera } from './live.ts'
import { SCENES, type SceneName } from './player.ts'
import { parseScript, type Script } from './script.ts'
import { challengeScript, isScriptName, pinnedSteps, SCRIPTS, type ScriptName } from './scripts.ts'
import type { Size } from './stage.ts'

const USAGE = `Usage: node tests/puppet/main.ts --portrait PORTRAIT (--script SCRIPT | --challenge MOVEMENTS) --out CLIP.mjpeg
            [--fps 15] [--size 640x480]
       node tests/puppet/main.ts live --portrait PORTRAIT --out CAMERA.y4m [--movements MOVEMENTS] [--size 640x480]

PORTRAIT     a picture file with one face; figure: a drawn face; baseline: a NASA portrait, from OSTIARY_DATA or python3-skimage
SCRIPT       a JSON file, or one of ${Object.keys(SCRIPTS).join(', ')}
MOVEMENTS    separated by commas without spaces: ${MOVEMENTS.join(',')}
--challenge  three movements that a test session pins; the clip performs them when the page asks. Wins if --script is given too
--movements  the movements that the live camera can perform; all by default
--size       the width must be divisible by 4, the height by 2`

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    portrait: { type: 'string' },
    script: { type: 'string' },
    out: { type: 'string' },
    fps: { type: 'string' },
    size: { type: 'string' },
    movements: { type: 'string' },
    challenge: { type: 'string' },
  },
})
const { portrait, out, script, challenge } = values
if (!portrait || !out || (!script && !challenge && positionals[0] !== 'live')) {
  console.error(USAGE)
  process.exit(2)
}
const size = values.size ? parseSize(values.size) : CAMERA_SIZE
if (positionals[0] === 'live')
  await runLive({ portrait, out: resolve(out), size, movements: parseMovements(values.movements) })
else {
  const onProgress = createProgressBar(out)
  await makeClip({
    portrait,
    out,
    size,
    script: challenge ? challengeScript({ steps: pinnedSteps(parseMovements(challenge)) }) : findScript(script ?? ''),
    onProgress,
    ...(values.fps && { fps: Number(values.fps) }),
  })
}

function parseSize(text: string): Size {
  const [width, height] = text.split('x').map(Number)
  if (!width || !height || width % 4 || height % 2)
    throw new Error(`"${text}" is not a size such as 640x480, with a width divisible by 4 and an even height`)
  return { width, height }
}

function isMovement(word: string): word is Movement {
  return MOVEMENTS.some((movement) => movement === word)
}

function isScene(word: string): word is SceneName {
  return SCENES.some((scene) => scene === word)
}

function parseMovements(text: string | undefined): readonly Movement[] {
  const words = text?.split(',') ?? MOVEMENTS
  const unknown = words.find((word) => !isMovement(word))
  if (unknown !== undefined) throw new Error(`"${unknown}" is not one of ${MOVEMENTS.join(', ')}`)
  return words.filter(isMovement)
}

function findScript(name: string): Script | ScriptName {
  if (isScriptName(name)) return name
  if (!existsSync(name)) throw new Error(`"${name}" is neither a file nor one of ${Object.keys(SCRIPTS).join(', ')}`)
  return parseScript(readFileSync(name, 'utf8'))
}

function createProgressBar(label: string): (share: number) => void {
  let last = -1
  return (share) => {
    // A terminal shows one growing bar. A log gets a new line for each quarter.
    const step = process.stderr.isTTY ? Math.floor(share * 40) : Math.floor(share * 4)
    if (step === last) return
    last = step
    const percent = `${String(Math.round(share * 100)).padStart(3)} %  ${label}`
    process.stderr.write(
      process.stderr.isTTY ? `\r[${'#'.repeat(step).padEnd(40)}] ${percent}${share === 1 ? '\n' : ''}` : `${percent}\n`,
    )
  }
}

/** Runs the live camera. Reads commands from standard input, one per line, and stops when the input ends. */
async function runLive(options: LiveOptions): Promise<void> {
  const camera = await startLiveCamera(options)
  process.once('SIGTERM', () => process.exit(0))
  console.log('ready')
  for await (const line of createInterface({ input: process.stdin })) {
    const word = line.trim()
    const [, factor] = /^slow ([1-9]\d?)$/.exec(word) ?? []
    if (factor) camera.slowDown(Number(factor))
    else if (isScene(word)) camera.show(word)
    else if (/^(prepare|hold) \{/.test(word)) handle(camera, word)
    else if (isMovement(word))
      camera.perform(word).then(
        () => console.log(`done ${word}`),
        (error: Error) => console.error(error.message),
      )
    else if (word)
      console.error(
        `"${word}" is not a command. Commands: ${[...MOVEMENTS, ...SCENES, 'prepare THING', 'hold THING', 'slow N'].join(', ')}`,
      )
  }
  await camera.stop()
}

/** `prepare` or `hold`, and a thing as JSON. The answer is `done` or `failed` and the command. */
function handle(camera: LiveCamera, command: string): void {
  const thing = JSON.parse(command.slice(command.indexOf('{'))) as HeldThing
  const done = command.startsWith('hold') ? camera.hold(thing) : camera.prepare(thing)
  done.then(
    () => console.log(`done ${command}`),
    (error: Error) => console.log(`failed ${command}: ${error.message}`),
  )
}
