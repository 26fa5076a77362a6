import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import type { Readable } from 'node:stream'
import { type TestContext, test } from 'node:test'

/** Runs a script that may import what the entry points import. Its standard error is open; the test decides about standard output. */
function run(t: TestContext, script: string) {
  const modules = `
    import { systemClock } from ${JSON.stringify(import.meta.resolve('./clock.ts'))}
    import { createLog } from ${JSON.stringify(import.meta.resolve('./log.ts'))}
    import { countLostLogLines } from ${JSON.stringify(import.meta.resolve('./log-output.ts'))}
    import { handleSignals } from ${JSON.stringify(import.meta.resolve('./shutdown.ts'))}
    const say = (text) => process.stderr.write(text + '\\n')
    const clock = systemClock`
  const child = spawn(process.execPath, ['--input-type=module-typescript', '--eval', `${modules}\n${script}`], {
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  t.after(() => child.kill('SIGKILL'))
  return { child, exited: once(child, 'exit') }
}

/** Resolves when the process has written this text to standard error. */
async function says({ stderr }: { stderr: Readable }, wanted: string): Promise<void> {
  let said = ''
  for await (const chunk of stderr.iterator({ destroyOnReturn: false })) {
    said += chunk
    if (said.includes(wanted)) return
  }
  assert.fail(`The process ended and said: ${said}`)
}

const PHASES = `[{ name: 'last', deadlineMs: 1_000, run: async () => say('phase ran') }]`

test('a signal that arrives while the process starts is not lost', { timeout: 60_000 }, async (t) => {
  // The process is busy when the signal arrives: Node dispatches it after the phases are known.
  const { child, exited } = run(
    t,
    `
    const shutdown = handleSignals({ isInit: true })
    process.kill(process.pid, 'SIGTERM')
    shutdown.afterStart(${PHASES}, createLog('info'), clock)
    setInterval(() => {}, 1_000)`,
  )
  await says(child, 'phase ran')
  assert.deepEqual(await exited, [0, null])
})

test('a signal before the phases are known ends the process at once, however busy it is', {
  timeout: 60_000,
}, async (t) => {
  const { child, exited } = run(
    t,
    `
    handleSignals()
    say('waiting')
    for (;;);`,
  )
  await says(child, 'waiting')
  child.kill('SIGTERM')
  assert.deepEqual(await exited, [null, 'SIGTERM'])
})

test('process 1 of a container has a handler before the phases are known', { timeout: 60_000 }, async (t) => {
  const { child, exited } = run(
    t,
    `
    handleSignals({ isInit: true })
    setInterval(() => {}, 1_000)
    say('waiting')`,
  )
  await says(child, 'waiting')
  child.kill('SIGTERM')
  assert.deepEqual(await exited, [0, null])
})

test('a process whose log has lost its reader continues, counts lost lines and ends', {
  timeout: 60_000,
}, async (t) => {
  const { child, exited } = run(
    t,
    `
    const log = createLog('info')
    handleSignals().afterStart(${PHASES}, log, clock)
    log.info('first')
    const timer = setInterval(() => {
      log.info('more')
      if (countLostLogLines() > 0) {
        clearInterval(timer)
        setInterval(() => {}, 1_000)
        say('lines are lost')
      }
    }, 10)`,
  )
  await once(child.stdout, 'data')
  child.stdout.destroy()
  await says(child, 'lines are lost')
  child.kill('SIGTERM')
  await says(child, 'phase ran')
  assert.deepEqual(await exited, [0, null])
})

test('the last lines of a process do not wait for a reader that is gone', { timeout: 60_000 }, async (t) => {
  // The process writes its first line at its very end, before it can notice that the reader is gone.
  const { child, exited } = run(
    t,
    `
    const log = createLog('info')
    process.on('SIGTERM', () => { log.info('last'); process.exit(0) })
    say('waiting')
    setInterval(() => {}, 1_000)`,
  )
  child.stdout.destroy()
  await says(child, 'waiting')
  child.kill('SIGTERM')
  assert.deepEqual(await exited, [0, null])
})

test('a reader that does not read delays the end only briefly', { timeout: 60_000 }, async (t) => {
  const { child, exited } = run(
    t,
    `
    const log = createLog('info')
    handleSignals().afterStart(${PHASES}, log, clock)
    for (let line = 0; line < 10_000; line++) log.info('more than a pipe takes')
    say('waiting')
    setInterval(() => {}, 1_000)`,
  )
  child.stdout.pause()
  await says(child, 'waiting')
  child.kill('SIGTERM')
  await says(child, 'phase ran')
  assert.deepEqual(await exited, [0, null])
})

test('all lines of a process that ends arrive, in order', { timeout: 60_000 }, async (t) => {
  const { child } = run(
    t,
    `
    const log = createLog('info')
    handleSignals().afterStart(${PHASES}, log, clock)
    for (let count = 0; count < 5_000; count++) log.info({ count }, 'line')
    process.kill(process.pid, 'SIGTERM')
    setInterval(() => {}, 1_000)`,
  )
  let text = ''
  for await (const chunk of child.stdout) text += chunk
  const lines = text
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line))
  assert.deepEqual(
    lines.filter(({ msg }) => msg === 'line').map(({ count }) => count),
    Array.from({ length: 5_000 }, (_, count) => count),
  )
  assert.equal(lines.at(-1)?.msg, 'shutdown phase done')
})
