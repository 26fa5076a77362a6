/** Runs the puppet: an animated portrait as a live camera for Chromium (README.md). Without options it prints its usage. */
import { resolve } from 'node:path'
import { createInterface } from 'node:readline'
import { parseArgs } from 'node:util'
import { MOVEMENTS, type Movement } from '@ostiary/contract'
import { type HeldThing, type LiveCamera, type LiveOptions, startLiveCamera } from './live.ts'
import { SCENES, type SceneName } from './player.ts'
import { CAMERA_SIZE } from './scene.ts'
import type { Size } from './stage.ts'

const USAGE = `Usage: node tests/puppet/main.ts live --portrait PORTRAIT --out CAMERA.y4m [--movements MOVEMENTS] [--size 640x480]

PORTRAIT     a picture file with one face; figure: a drawn face; baseline: a NASA portrait, from OSTIARY_DATA or tools/bootstrap
MOVEMENTS    the movements that the camera can perform, separated by commas without spaces; all by default: ${MOVEMENTS.join(',')}
--size       the width must be divisible by 4, the height by 2`

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    portrait: { type: 'string' },
    out: { type: 'string' },
    size: { type: 'string' },
    movements: { type: 'string' },
  },
})
const { portrait, out } = values
if (!portrait || !out || positionals[0] !== 'live') {
  console.error(USAGE)
  process.exit(2)
}
const size = values.size ? parseSize(values.size) : CAMERA_SIZE
await runLive({ portrait, out: resolve(out), size, movements: parseMovements(values.movements) })

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
