import { systemClock } from '@ostiary/device'
import { diagnose, type OperatorServices, withServices } from '@ostiary/server/operate'
import { type Command, type Invocation, text, UsageError } from '../command.ts'
import { type Check, showChecks } from '../doctor/checks.ts'
import { checkAddress, checkBackup, checkTenant } from '../doctor/live.ts'
import { isOstiary } from './machine.ts'
import { resolveTenant } from './tenants.ts'

export const doctorLiveCommands: readonly Command[] = [
  {
    name: 'doctor live',
    usage: `ostiary doctor live [--tenant <id or name>] [--last-backup <moment>] [--json]

What has to be right before the first live session: the address, live keys and client credentials, where users may be
sent, a buffer around age thresholds, key pairs of webhooks, lists that are not stale, backups, and all that "ostiary
doctor" checks. Of all active tenants, or of one. Nothing here knows of backups: a script that makes them says when.

Exit code: 0 nothing failed (there may be warnings), 1 something failed, 2 not understood.`,
    options: { tenant: { type: 'string' }, 'last-backup': { type: 'string' } },
    run: doctorLive,
  },
]

async function doctorLive(invocation: Invocation): Promise<number> {
  const { env, terminal } = invocation
  const backup = backupOf(invocation)
  const base = await diagnose(env, isOstiary)
  const checks: Check[] = [checkAddress(env.PUBLIC_URL), ...base.filter(isWorthShowing)]
  // Without a database there are no tenants to look at.
  const canLook = !base.some(({ state }) => state === 'failed')
  if (canLook) checks.push(...(await withServices(env, (services) => checkTenants(services, invocation))))
  checks.push(checkBackup(backup, new Date(systemClock.nowMs())))
  if (invocation.options.json) terminal.out(JSON.stringify(checks))
  else showChecks(checks, terminal, { good: 'Ready to go live', bad: 'to fix before going live' })
  return checks.some(({ state }) => state === 'failed') ? 1 : 0
}

/** The lists are part of this checklist in any state; other findings only where something is wrong. */
const isWorthShowing = ({ name, state }: Check) =>
  (state !== 'ok' || name === 'sanctions lists') && name !== 'launch URL'

function backupOf(invocation: Invocation): Date | undefined {
  const value = text(invocation, 'last-backup')
  if (value === undefined) return undefined
  const moment = new Date(value)
  if (Number.isNaN(moment.getTime())) throw new UsageError('--last-backup must be such as 2026-11-18T02:00:00Z')
  return moment
}

async function checkTenants(services: OperatorServices, invocation: Invocation): Promise<Check[]> {
  const asked = text(invocation, 'tenant')
  const id = asked === undefined ? undefined : await resolveTenant(services, asked)
  const tenants = (await services.keys.listTenants()).filter(({ tenantId, status }) =>
    id === undefined ? status === 'active' : tenantId === id,
  )
  if (tenants.length === 0) {
    const remedy = 'Run: ostiary tenants create <name>'
    return [{ name: 'tenants', state: 'failed', finding: 'no tenant is active', remedy }]
  }
  const checks: Check[] = []
  for (const { tenantId, name } of tenants) {
    checks.push(
      ...checkTenant({
        name,
        settings: await services.settings.get(tenantId),
        keys: await services.keys.listKeys(tenantId),
        clients: await services.clients.list(tenantId),
        webhookKeys: await services.webhookKeys.list(tenantId),
      }),
    )
  }
  return checks
}
