/** The budgets of both services: the 51st evaluation of a day, kill -9 in the middle of evaluations, and 20 requests at once with 5 left. */
import { TOKEN_BUDGET, type TokenVerdict } from '@ostiary/contract'
import { evaluateFace } from '@ostiary/key-holder/testing'
import type { Figure } from '@ostiary/testkit/measuring/figure'
import { sleep } from '@ostiary/testkit/run'
import { atLeast, atMost, type Say } from './token-figures.ts'
import { countedFor, type End, type Person, type Scene, setUsed, subjectOf } from './token-scene.ts'

const { evaluationsPerDay } = TOKEN_BUDGET
const LEFT = 5
const AT_ONCE = 20
/** More at once would use up the failures of a day, which are counted in advance. */
const LANES = 8

export async function useUpBudgets(scene: Scene, { full, say }: { full: boolean; say: Say }): Promise<Figure[]> {
  const [one, other] = [await scene.enrol(), await scene.enrol()]
  return [
    ...(await useUpAtKeyHolder(scene, one, { full, say })),
    ...(await killKeyHolder(scene, one, say)),
    ...(await useUpAtMatcher(scene, other, { full, say })),
    ...(await killApi(scene, other, { full, say })),
  ]
}

/** The last ones of a day at the key holder, each accepted; --full: all of them. The enrolment was the first. */
async function useUpAtKeyHolder(
  scene: Scene,
  person: Person,
  { full, say }: { full: boolean; say: Say },
): Promise<Figure[]> {
  const subject = subjectOf(person)
  const probe = await evaluateFace(subject, person.face)
  const used = full ? 1 : evaluationsPerDay - LEFT
  await setUsed(scene, person, used)
  const verdicts: TokenVerdict[] = []
  for (let left = evaluationsPerDay - used + 2; left > 0; left -= LANES) {
    const lanes = Array.from({ length: Math.min(LANES, left) }, () => scene.asMatcher.compare(subject, probe))
    verdicts.push(...(await Promise.all(lanes)))
  }
  const accepted = verdicts.filter((verdict) => verdict === 'accept').length
  say(`budget: after ${used} of the day, ${accepted} of ${verdicts.length} at the key holder are accepted`)
  return [
    atMost('budget.key-holder-evaluations-of-a-day', used + accepted, evaluationsPerDay),
    atLeast('budget.control-key-holder-accepted', accepted, evaluationsPerDay - used),
  ]
}

/** The last ones of a day over the network; --full: all of them. The key holder is not asked for the 51st. */
async function useUpAtMatcher(
  scene: Scene,
  person: Person,
  { full, say }: { full: boolean; say: Say },
): Promise<Figure[]> {
  const used = full ? 0 : evaluationsPerDay - 1
  await setUsed(scene, person, used)
  // Only the matcher's own count is looked at.
  scene.relay.answer = async () => 'accept'
  const before = scene.relay.seen.length
  let accepted = 0
  for (let n = used; n < evaluationsPerDay + 1; n++)
    if (isIn(await scene.signIn(person, { once: true }), person)) accepted++
  scene.relay.answer = undefined
  const evaluated = used + scene.relay.seen.length - before
  say(
    `budget: ${evaluated} evaluations of a day at the matcher, ${accepted} of ${evaluationsPerDay + 1 - used} sign-ins accepted`,
  )
  return [
    atMost('budget.matcher-evaluations-of-a-day', evaluated, evaluationsPerDay),
    atLeast('budget.control-matcher-accepted', accepted, evaluationsPerDay - used),
  ]
}

const isIn = (end: End, person: Person) => end !== 'lost' && end.puid === person.puid

/** Some at once, and the process is killed while it judges them; then 20 at once. Together no more than were left. */
async function killKeyHolder(scene: Scene, person: Person, say: Say): Promise<Figure[]> {
  const subject = subjectOf(person)
  const probe = await evaluateFace(subject, person.face)
  await setUsed(scene, person, evaluationsPerDay - LEFT)
  const atOnce = (count: number) =>
    Promise.all(
      Array.from({ length: count }, () => scene.asMatcher.compare(subject, probe).catch(() => 'lost' as const)),
    )
  const countedSoFar = async () => (await countedFor(scene, person)).keyHolder.today - (evaluationsPerDay - LEFT)
  const first = atOnce(LANES)
  // As soon as something was counted, long before the deadline of its answer.
  for (let waits = 0; waits < 200 && (await countedSoFar()) === 0; waits++) await sleep(5)
  await scene.keyHolder.kill()
  const inTheMiddle = await countedSoFar()
  const before = await first
  await scene.keyHolder.start()
  const kept = (await countedSoFar()) >= inTheMiddle ? inTheMiddle : 0
  const after = await atOnce(AT_ONCE)
  const accepted = [...before, ...after].filter((verdict) => verdict === 'accept').length
  const { today } = (await countedFor(scene, person)).keyHolder
  say(
    `budget: key holder killed with ${inTheMiddle} of ${LEFT} counted and ${before.filter((one) => one === 'accept').length} answered; ` +
      `${accepted} of ${LANES} and ${AT_ONCE} at once accepted, ${today} counted of the day`,
  )
  return [
    atLeast('budget.key-holder-killed-in-the-middle', inTheMiddle, 1),
    atMost('budget.key-holder-counts-lost', inTheMiddle - kept, 0),
    atMost('budget.key-holder-accepted-of-5-left', accepted, LEFT),
    atMost('budget.key-holder-counted-of-a-day', today, evaluationsPerDay),
  ]
}

/** The same at the API: sign-ins at once, the process killed while the key holder thinks, and 20 sign-ins at once again. */
async function killApi(scene: Scene, person: Person, { full, say }: { full: boolean; say: Say }): Promise<Figure[]> {
  const { relay } = scene
  await setUsed(scene, person, evaluationsPerDay - LEFT)
  const before = relay.seen.length
  const seen = () => relay.seen.length - before
  const atOnce = (count: number) =>
    Promise.all(Array.from({ length: count }, () => scene.signIn(person, { once: true })))
  // Held back until the process is dead: what it has asked for must have been counted.
  let free: (verdict: TokenVerdict) => void = () => {}
  const held = new Promise<TokenVerdict>((resolve) => {
    free = resolve
  })
  relay.answer = () => held
  const first = atOnce(full ? AT_ONCE : 3)
  for (let waits = 0; waits < 4_000 && seen() === 0; waits++) await sleep(5)
  await scene.killApi()
  const asked = seen()
  const counted = (await countedFor(scene, person)).matcher.today - (evaluationsPerDay - LEFT)
  free('accept')
  relay.answer = async () => 'accept'
  const ends = [...(await first), ...(await atOnce(AT_ONCE))]
  relay.answer = undefined
  const accepted = ends.filter((end) => isIn(end, person)).length
  const { today } = (await countedFor(scene, person)).matcher
  say(
    `budget: API killed after ${asked} evaluations had been asked for and ${counted} counted; ` +
      `${accepted} of ${ends.length} sign-ins accepted, ${seen()} evaluated, ${today} counted of the day`,
  )
  return [
    atLeast('budget.api-killed-in-the-middle', asked, 1),
    atMost('budget.api-counts-lost', Math.max(0, asked - counted), 0),
    atMost('budget.api-evaluated-of-5-left', seen(), LEFT),
    atMost('budget.api-accepted-of-5-left', accepted, LEFT),
    atMost('budget.api-counted-of-a-day', today, evaluationsPerDay),
  ]
}
