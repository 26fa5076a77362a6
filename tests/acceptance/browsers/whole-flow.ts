import assert from 'node:assert/strict'
import type { LiveCamera } from '@ostiary/testkit/browser/live-camera'
import type { CreatedVisit } from '@ostiary/testkit/browser/system'
import { checkVerdict, type FaceVisit, passCapture } from '@ostiary/testkit/browser/visit'

/** What somebody may do at a screen before they go on. */
type Look = (screen: string) => Promise<unknown>

/**
 * The whole way of a person through a face check: the link, the text, consent, guidance, three movements, the verdict. Returns the seconds
 * from opening the link to each screen, as one line.
 */
export async function takeWholeFlow(
  visit: FaceVisit & { open(url: string): Promise<void> },
  { camera, created, look = async () => {} }: { camera: LiveCamera; created: CreatedVisit; look?: Look },
): Promise<string> {
  const began = performance.now()
  const times = ['welcome', 'capture', 'sending', 'done'].map(async (screen) => {
    await visit.saw([screen])
    return `${screen} ${((performance.now() - began) / 1000).toFixed(1)} s`
  })
  await visit.open(created.launchUrl)
  await visit.screen(['welcome'])
  await look('welcome')
  await visit.act('consent')
  const guided = visit.screen(['capture']).then(() => look('capture'))
  const [tries] = await Promise.all([passCapture(visit, camera), guided])
  assert.equal(tries.at(-1)?.length, 3, `asked for ${JSON.stringify(tries)}`)
  await checkVerdict(visit, created)
  const line = (await Promise.all(times)).join(', ')
  await look('done')
  return `${line}; attempts: ${tries.length}`
}
