/** Titles, licences and kinds of published lists, so that an operator need not type them. */

import { DAY_MS } from '../../platform/clock.ts'
import type { ListFormat } from '../lists/read-list.ts'
import { CUSTOM_PREFIX, DATASET_NAME, type DatasetId, TENANTS } from './files.ts'

export const LIST_KINDS = ['sanctions', 'peps', 'crime', 'other'] as const
export type ListKind = (typeof LIST_KINDS)[number]

export interface ListDescription {
  title: string
  licence: string
  kind: ListKind
}

/** The list that ships with the product. It is built at start if it is missing or outdated. */
export const DEMO = 'demo'

const US_PUBLIC = 'US government work, public domain'
const KNOWN: ReadonlyMap<string, ListDescription> = new Map<string, ListDescription>([
  ['us_ofac_sdn', { title: 'OFAC Specially Designated Nationals', licence: US_PUBLIC, kind: 'sanctions' }],
  ['us_ofac_cons', { title: 'OFAC Consolidated (non-SDN) list', licence: US_PUBLIC, kind: 'sanctions' }],
  [
    'un_sc_sanctions',
    {
      title: 'UN Security Council Consolidated List',
      licence: 'UN public list, terms of use of un.org',
      kind: 'sanctions',
    },
  ],
  [
    'eu_fsf',
    {
      title: 'EU Financial Sanctions Files',
      licence: 'European Commission, reuse allowed with the source named',
      kind: 'sanctions',
    },
  ],
  [
    'ch_seco_sanctions',
    {
      title: 'Swiss SECO sanctions list',
      licence: 'Swiss federal government, free use with the source named',
      kind: 'sanctions',
    },
  ],
  ['sanctions', { title: 'Sanctioned people', licence: '', kind: 'sanctions' }],
  ['peps', { title: 'Politically exposed persons', licence: '', kind: 'peps' }],
  ['crime', { title: 'Wanted people and criminals', licence: '', kind: 'crime' }],
])

/**
 * Lists that their publishers have ended. Installations that still have one keep it as an ordinary list. Its kind must not be lost when
 * it is imported again: it would silently leave the collection `sanctions`.
 */
const ENDED: ReadonlyMap<string, ListDescription & { ended: string; successor: string }> = new Map([
  [
    'gb_hmt_sanctions',
    {
      title: 'UK HM Treasury / OFSI Consolidated List',
      licence: 'Open Government Licence 3.0',
      kind: 'sanctions',
      ended: '2026-01-28',
      successor: 'the UK Sanctions List of the Foreign, Commonwealth and Development Office',
    },
  ],
])

/** All known lists change on some days and not on others, so their publishers are to be asked daily. */
const KNOWN_PERIOD_MS = DAY_MS

const OPEN_SANCTIONS_LICENCE = 'OpenSanctions, CC BY-NC 4.0: commercial use needs a licence of theirs'

/** Whether this is a format of OpenSanctions, whose data needs a licence for commercial use. */
export function isOpenSanctions(format: ListFormat): boolean {
  return format === 'ftm' || format === 'simple-csv'
}

export function describeList({ name, tenantId }: DatasetId, format: ListFormat): ListDescription {
  const known = KNOWN.get(name) ?? ENDED.get(name)
  const owned = tenantId === null ? 'not stated' : 'the tenant’s own'
  // This applies to known lists too: OpenSanctions' copy of a list is under OpenSanctions' terms.
  const licence = isOpenSanctions(format) ? OPEN_SANCTIONS_LICENCE : known?.licence || owned
  return { title: known?.title ?? name, licence, kind: known?.kind ?? 'other' }
}

/** How often the publisher of a known list is to be asked. Null for other lists: they have the period that their source states. */
export function knownPeriodMs({ name, tenantId }: DatasetId): number | null {
  return tenantId === null && KNOWN.has(name) ? KNOWN_PERIOD_MS : null
}

export const isKnown = (name: string): boolean => KNOWN.has(name)

/** One sentence about a list that its publisher has ended, or undefined. */
export function endOfList(name: string): string | undefined {
  const list = ENDED.get(name)
  return list && `${list.title} ended on ${list.ended}: ${list.successor} has taken its place`
}

/** The reason why a list cannot be imported under this name, or undefined. */
export function datasetNameProblem({ name, tenantId }: DatasetId): string | undefined {
  if (!DATASET_NAME.test(name)) return 'The name of a dataset has 1 to 64 letters a to z, digits and underscores'
  if (name === TENANTS || name === DEMO) return `The name ${name} is taken`
  const isCustom = name.startsWith(CUSTOM_PREFIX)
  if (tenantId !== null && !isCustom) return `The name of a tenant’s own list begins with ${CUSTOM_PREFIX}`
  if (tenantId === null && isCustom) return `A name with ${CUSTOM_PREFIX} belongs to one tenant: say which`
  return undefined
}
