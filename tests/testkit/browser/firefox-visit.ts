import type { TestContext } from 'node:test'
import { type FirefoxTab, startFirefox } from './firefox.ts'
import type { LiveCamera } from './live-camera.ts'
import { answerMovements, type FaceVisit, seenOf } from './visit.ts'

export interface FirefoxVisitor {
  visit: FaceVisit
  tab: FirefoxTab
}

/** A person before a new Firefox, whose camera shows the puppet. It ends with the test. */
export async function newFirefoxVisitor(t: TestContext, camera: LiveCamera): Promise<FirefoxVisitor> {
  const tab = await startFirefox({ width: 640, height: 480 })
  t.after(() => tab.stop())
  tab.watch(camera)
  const { screens, faults } = tab
  const visit: FaceVisit = {
    frame: tab,
    screens,
    async screen(names) {
      const shown = `document.querySelector('main[data-screen]')?.dataset.screen`
      return tab.waitFor(names.join(' or '), `${JSON.stringify(names)}.find((name) => name === ${shown}) ?? null`)
    },
    saw: (names, since) => seenOf({ screens, faults }, names, since),
    async act(name) {
      if (name === 'consent') await readOn(tab)
      await tab.press(`[data-action="${name}"]`)
    },
    answer: (shownTo, cannot = []) =>
      answerMovements(tab, async (movement) => {
        if (cannot.includes(movement)) await tab.press('[data-action="cannot"]')
        else shownTo.perform(movement)
      }),
    lastCodes: async () => (await tab.lastAnswer<{ errors?: number[] }>('/launch/api/submit'))?.errors ?? [],
  }
  return { visit, tab }
}

/** Nobody can agree before the end of the text was in view. In one step: the button may change its meaning between a look and a press. */
async function readOn(tab: FirefoxTab): Promise<void> {
  const read = `(document.querySelector('[data-action="read-on"]')?.click(), !!document.querySelector('[data-action="consent"]'))`
  await tab.waitFor('the end of the text', read)
}
