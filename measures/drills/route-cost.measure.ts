/**
 * What one call of each route costs, times what a key or an address is allowed: below half a processor for every route, so that nobody stops a
 * process with what they may do. Costs are processor time of API, key holder and PostgreSQL from /proc, so a busy machine changes them little. The
 * data is as large as the limits allow where that makes a call dear. A route of the contract that was not called fails the drill. Where the cost
 * depends on the tenant's data a budget of processor time caps it, whatever it is here: such rows say so and count in no figure. That budgets hold
 * are tests (processor-budget.test.ts, faults.api.test.ts, match.api.test.ts).
 *
 *   npm run -s drill -- route-cost
 */
import { LAUNCH_RATES, OPERATIONS, PROCESSOR_BUDGETS, RATES, type RateName } from '@ostiary/contract'
import { type Measure, median } from '@ostiary/testkit/measuring/figure'
import { callAsHost, newCaller } from './route-cost-calls.ts'
import { playDevices } from './route-cost-devices.ts'
import { type Seen, watchCalls } from './route-cost-watch.ts'
import { openScene } from './token-scene.ts'

/** Less than half. */
const CORES_MOST = 0.499
/** What no load of the machine explains, as it changes processor time too: caches, and a processor with two threads. */
const CORES_STRICT = 1
/** Without a limit: fixed answers, and the looks of load balancers. */
const CONSTANT_MS_MOST = 5
/** Of the calls of one flow, in one session and address, one is the submit: open, consent, challenge and submit at least. */
const CALLS_PER_SUBMIT = 4

interface Row {
  operation: string
  ms: number
  statuses: string
  bound: string
  perSecond: number
  cores: number
  /** What a budget of processor time lets through, beside the rate. */
  cap: string | undefined
}

export const measure: Measure = async ({ say }) => {
  const scene = await openScene()
  try {
    const watch = await watchCalls(scene)
    try {
      const caller = await newCaller(scene)
      await callAsHost(scene, caller)
      await playDevices(scene, caller)
    } finally {
      await watch.stop()
    }
    const rows = OPERATIONS.flatMap(({ operationId }) => {
      const seen = watch.seen.get(operationId)
      return seen ? [rowOf(operationId, seen)] : []
    })
    for (const row of rows.toSorted((a, b) => b.cores - a.cores)) say(lineOf(row))
    const missing = OPERATIONS.filter(({ operationId }) => !watch.seen.has(operationId))
    if (missing.length > 0) say(`not called: ${missing.map(({ operationId }) => operationId).join(', ')}`)
    const constant = rows.filter(({ perSecond }) => perSecond === 0)
    const rated = rows.filter(({ cap }) => cap === undefined)
    const over = rated.filter(({ cores }) => cores >= CORES_STRICT)
    return [
      { name: 'route-cost.routes-not-called', value: missing.length, floor: 0, is: 'most' },
      { name: 'route-cost.most-cores', value: most(rated, 'cores'), floor: CORES_MOST, is: 'most', load: true },
      { name: 'route-cost.over-twice-the-promise', value: over.length, floor: 0, is: 'most' },
      { name: 'route-cost.unlimited-ms', value: most(constant, 'ms'), floor: CONSTANT_MS_MOST, is: 'most' },
    ]
  } finally {
    await scene.close()
  }
}

const most = (rows: readonly Row[], what: 'cores' | 'ms') => Math.max(0, ...rows.map((row) => row[what]))

function rowOf(operation: string, seen: readonly Seen[]): Row {
  // The first calls prepare statements and compile code.
  const counted = seen.slice(Math.floor(seen.length / 3))
  const ms = median(counted.map((each) => each.ms))
  const statuses = [...new Set(seen.map(({ status }) => status))].join(' ')
  const { bound, perSecond } = allowanceOf(operation, seen)
  return { operation, ms, statuses, bound, perSecond, cores: (ms * perSecond) / 1000, cap: CAPS[operation] }
}

/** The rate that answers name; of a device's call that of its address. */
function allowanceOf(operation: string, seen: readonly Seen[]) {
  const rate = seen.find((each) => each.rate !== undefined)?.rate
  if (rate !== undefined && Object.hasOwn(RATES, rate)) {
    return { bound: rate, perSecond: RATES[rate as RateName].live.perSecond }
  }
  const { address, tokenEnrolments } = LAUNCH_RATES
  if (operation === 'launchTokenEnrol') return { bound: 'launch, enrolments of an address', ...tokenEnrolments }
  if (operation === 'launchSubmit')
    return { bound: 'launch, submits of an address', perSecond: address.perSecond / CALLS_PER_SUBMIT }
  if (operation.startsWith('launch')) return { bound: 'launch, calls of an address', ...address }
  return { bound: 'nothing: a fixed answer', perSecond: 0 }
}

const SEARCH = `${PROCESSOR_BUDGETS['node-search'].cores} of a processor`
const SCREENING = `${PROCESSOR_BUDGETS.screening.cores} of each thread that screens`
const CAPS: Readonly<Record<string, string>> = {
  ...{ nodePlainPredict: SEARCH, nodePredict: SEARCH, nodePlainEnroll: SEARCH, nodeEnroll: SEARCH },
  ...{ screenFile: SCREENING, screenPeople: SCREENING },
}

function lineOf({ operation, ms, statuses, bound, perSecond, cores, cap }: Row): string {
  const allowed = perSecond === 0 ? '-' : `${perSecond.toFixed(2)}/s`
  return `${operation.padEnd(24)} ${ms.toFixed(2).padStart(8)} ms x ${allowed.padStart(9)} = ${cores.toFixed(3)} cores  ${bound} (${statuses})${cap ? `; a budget caps it at ${cap}` : ''}`
}
