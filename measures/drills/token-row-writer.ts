/**
 * The role of a writer of the matcher's database (review, finding 3): SQL injection, an administrator, a restored backup. He has no key of
 * the service, and a token, a face and a device of his own.
 */
import { createTokenKeys } from '@ostiary/device'
import type { Figure } from '@ostiary/testkit/measuring/figure'
import { atLeast, atMost, type Say } from './token-figures.ts'
import { type Changes, idOf, type Person, type Scene } from './token-scene.ts'

type Row = Record<string, unknown>
/** Columns that a row has of its own; the others name it. */
const CONTENT = ['account', 'token_hash', 'device_key', 'sealed', 'sealed_token', 'person_seal'] as const

interface Work {
  scene: Scene
  victim: Person
  attacker: Person
  rows: { victim: Row; attacker: Row }
  set(person: Person, changes: Row): Promise<void>
}

/** Writes, and says with what somebody then tries to sign in. */
type Attack = (work: Work) => Promise<[Person, Changes][]>

const ATTACKS: readonly [string, Attack][] = [
  [
    'a face added to the token',
    async ({ victim, attacker, rows, set }) => {
      const sealed = Buffer.from(rows.victim.sealed_token as Buffer)
      // Adding to what is inside takes the key of the seal; without it, bits can be flipped.
      for (let at = 80; at < 5_000; at++) sealed[at] = (sealed[at] ?? 0) ^ 1
      await set(victim, { sealed_token: sealed })
      return [
        [victim, {}],
        [victim, { face: attacker.face }],
      ]
    },
  ],
  [
    'a token of his own with its hash',
    async ({ victim, attacker, rows, set }) => {
      const { sealed_token, token_hash } = rows.attacker
      await set(victim, { sealed_token, token_hash })
      return [[victim, { face: attacker.face }]]
    },
  ],
  [
    'the rows of two accounts swapped',
    async ({ victim, attacker, rows, set }) => {
      const contentOf = (row: Row) => Object.fromEntries(CONTENT.map((column) => [column, row[column]]))
      await set(victim, contentOf(rows.attacker))
      await set(attacker, contentOf(rows.victim))
      const { keys } = attacker.kept
      return [
        [attacker, {}],
        [victim, { face: attacker.face, kept: { ...victim.kept, keys } }],
      ]
    },
  ],
  [
    'the victim written to his own row',
    async ({ victim, attacker, rows, set }) => {
      await set(attacker, { person_id: victim.puid, person_seal: rows.victim.person_seal })
      return [[attacker, {}]]
    },
  ],
  [
    'the account of another row',
    async ({ victim, attacker, rows, set }) => {
      await set(victim, { account: rows.attacker.account })
      return [[victim, { kept: { ...victim.kept, account: attacker.kept.account } }]]
    },
  ],
  [
    'a device key of his own',
    async ({ victim, set }) => {
      const keys = await createTokenKeys()
      const { x, y } = keys.publicKey
      await set(victim, { device_key: Buffer.concat([x, y].map((part) => Buffer.from(part, 'base64url'))) })
      return [[victim, { face: victim.face, kept: { ...victim.kept, keys } }]]
    },
  ],
]

export async function writeRows(scene: Scene, { say }: { say: Say }): Promise<Figure[]> {
  const [victim, attacker] = [await scene.enrol(), await scene.enrol()]
  const rowOf = async (person: Person): Promise<Row> =>
    (await scene.atMatcher('select * from face_tokens where token_id = $1', [idOf(person)])).rows[0]
  const rows = { victim: await rowOf(victim), attacker: await rowOf(attacker) }
  const set = async (person: Person, changes: Row) => {
    const columns = Object.keys(changes)
    const places = columns.map((column, at) => `${column} = $${at + 2}`)
    const text = `update face_tokens set ${places} where token_id = $1`
    await scene.atMatcher(text, [idOf(person), ...Object.values(changes)])
  }
  const before = scene.relay.seen.length
  let [tried, accepted] = [0, 0]
  for (const [name, attack] of ATTACKS) {
    for (const [person, changes] of await attack({ scene, victim, attacker, rows, set })) {
      tried++
      const end = await scene.signIn(person, { ...changes, once: true })
      if (end !== 'lost' && end.puid === undefined) continue
      accepted++
      say(`ACCEPTED: ${name}`)
    }
    await Promise.all([set(victim, written(rows.victim)), set(attacker, written(rows.attacker))])
  }
  const evaluated = scene.relay.seen.length - before
  const control = await scene.signIn(victim)
  const old = await restoreOldRow(scene, victim, rows.victim, say)
  say(
    `row writer: ${tried} sign-ins after ${ATTACKS.length} kinds of writing, ${accepted} accepted, ${evaluated} evaluated`,
  )
  return [
    atLeast('row-writer.tried', tried, ATTACKS.length),
    atMost('row-writer.accepted', accepted, 0),
    atMost('row-writer.evaluated', evaluated, 0),
    atMost('row-writer.old-row-accepted', old.accepted, 0),
    // The rows were as before, and nothing else had locked the victim.
    atLeast('row-writer.control-owner-after-all', control !== 'lost' && control.puid === victim.puid ? 1 : 0, 1),
    atLeast('row-writer.control-renewed', old.renewed, 1),
  ]
}

const written = (row: Row): Row => Object.fromEntries([...CONTENT, 'person_id'].map((column) => [column, row[column]]))

/** The token is renewed; then the old row is put back beside the new one, with all that it had. */
async function restoreOldRow(scene: Scene, person: Person, row: Row, say: Say) {
  const old = person.kept
  await scene.atMatcher('update face_tokens set evaluations = 4600 where token_id = $1', [idOf(person)])
  await scene.signIn(person)
  const renewed = person.kept.tokenId === old.tokenId ? 0 : 1
  await scene.sendErasures()
  const columns = Object.keys(row)
  const places = columns.map((_, at) => `$${at + 1}`)
  await scene.atMatcher(`insert into face_tokens (${columns}) values (${places})`, Object.values(row))
  const end = await scene.signIn({ ...person, kept: old }, { kept: old, once: true })
  const accepted = end !== 'lost' && end.puid === undefined ? 0 : 1
  say(`row writer: an old row put back after a renewal: ${accepted} accepted`)
  return { accepted, renewed }
}
