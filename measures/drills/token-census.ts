import { TOKEN_BUDGET } from '@ostiary/contract'
import pg from 'pg'

/** The databases of both services, as their operators see them. */
export async function openTokenDatabases(matcherUrl: string, keyHolderUrl: string) {
  const [matcher, shares] = [new pg.Client(matcherUrl), new pg.Client(keyHolderUrl)]
  await matcher.connect()
  await shares.connect()

  const tokens = async () => (await matcher.query<TokenRow>(TOKENS)).rows
  const keyShares = async () => (await shares.query<ShareRow>(SHARES)).rows

  return {
    matcher,
    shares,
    tokens,
    keyShares,

    /** Makes everything that waits an hour older, and sessions that are open due. */
    async letTimePass(): Promise<void> {
      const hour = `interval '61 minutes'`
      await matcher.query(`update face_tokens set created_at = created_at - ${hour} where person_id is null`)
      await matcher.query(`update sessions set expires_at = now(), due_at = now() where ended_at is null`)
      await shares.query(`update key_shares set created_at = created_at - ${hour} where state = 'PENDING'`)
    },

    /** Nearly all comparisons of the person's token are used up: the next sign-in renews it. */
    async useUp(puid: string): Promise<void> {
      const evaluations = Math.floor(TOKEN_BUDGET.evaluationsPerToken * 0.95)
      await matcher.query('update face_tokens set evaluations = $2 where person_id = $1', [puid, evaluations])
    },

    /** People who are there by half. `acknowledged`: those whom a host knows. */
    async halfEnrolled(acknowledged: ReadonlySet<string>): Promise<string[]> {
      const { rows } = await matcher.query<{ puid: string }>('select person_id as puid from face_persons')
      const persons = new Set(rows.map(({ puid }) => puid))
      const active = new Set(
        (await keyShares()).filter(({ state }) => state === 'ACTIVE').map(({ tokenId }) => tokenId),
      )
      const bound = (await tokens()).filter(({ puid }) => puid !== null)
      const withToken = new Set(bound.map(({ puid }) => puid))
      return [
        ...[...persons].filter((puid) => !withToken.has(puid)).map((puid) => `${puid} has no token`),
        ...[...persons].filter((puid) => !acknowledged.has(puid)).map((puid) => `${puid} was never reported to a host`),
        ...bound.filter(({ puid }) => !persons.has(puid ?? '')).map(({ tokenId }) => `token ${tokenId} has no person`),
        ...bound.filter(({ tokenId }) => !active.has(tokenId)).map(({ tokenId }) => `token ${tokenId} has no share`),
      ]
    },

    /** Rows of one service that the other does not know, and rows that still wait. */
    async orphans(): Promise<string[]> {
      const [here, there] = [await tokens(), await keyShares()]
      const known = new Set(here.map(({ tokenId }) => tokenId))
      const held = new Set(there.map(({ tokenId }) => tokenId))
      return [
        ...here.filter(({ puid }) => puid === null).map(({ tokenId }) => `token ${tokenId} waits`),
        ...here.filter(({ tokenId }) => !held.has(tokenId)).map(({ tokenId }) => `token ${tokenId} has no share`),
        ...there.filter(({ state }) => state === 'PENDING').map(({ tokenId }) => `share ${tokenId} waits`),
        ...there.filter(({ tokenId }) => !known.has(tokenId)).map(({ tokenId }) => `share ${tokenId} has no token`),
      ]
    },

    /** Verdicts that one of the services gave and did not count. */
    async uncounted(): Promise<number> {
      const here = await matcher.query<{ missing: number }>(UNCOUNTED_HERE)
      const there = await shares.query<{ missing: number }>(UNCOUNTED_THERE)
      return (here.rows[0]?.missing ?? 0) + (there.rows[0]?.missing ?? 0)
    },

    async close(): Promise<void> {
      await matcher.end()
      await shares.end()
    },
  }
}
export type TokenDatabases = Awaited<ReturnType<typeof openTokenDatabases>>

interface TokenRow {
  tokenId: string
  puid: string | null
}
interface ShareRow {
  tokenId: string
  state: 'PENDING' | 'ACTIVE'
}

/** As the key holder writes ids: base64url. */
const TOKENS = `select translate(rtrim(encode(token_id, 'base64'), '='), '+/', '-_') as "tokenId", person_id as puid from face_tokens`
const SHARES = `select token_id as "tokenId", state from key_shares`
/** Every verdict is one evaluation, and every reject one failure, which were counted before. */
const UNCOUNTED_HERE = `
  with given as (
    select token_id, count(*) filter (where verdict <> 'locked') as evaluations, count(*) filter (where verdict = 'reject') as failures
    from token_probes where verdict is not null group by token_id)
  select coalesce(sum(greatest(given.evaluations - t.evaluations, 0) + greatest(given.failures - coalesce(f.failures, 0), 0)), 0)::int as missing
  from given join face_tokens t using (token_id)
  left join (select account, sum(failures) as failures from token_failures group by account) f using (account)`
const UNCOUNTED_THERE = `
  with given as (
    select token_id, account, count(*) filter (where verdict <> 'locked') as evaluations, count(*) filter (where verdict = 'reject') as failures
    from verdicts group by token_id, account)
  select coalesce(sum(greatest(given.evaluations - (s.evaluations - 1), 0) + greatest(given.failures - cardinality(p.failed_on), 0)), 0)::int as missing
  from given join key_shares s using (token_id) join persons p on p.account = given.account`
