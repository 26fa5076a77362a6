import type { ApiClientRecord, ApiKeyRecord, TenantSettings, WebhookKeyRecord } from '@ostiary/contract'
import type { Check } from './checks.ts'

export interface TenantFacts {
  name: string
  settings: TenantSettings
  keys: readonly ApiKeyRecord[]
  clients: readonly ApiClientRecord[]
  webhookKeys: readonly WebhookKeyRecord[]
}

const LOOPBACK = new Set(['localhost', '127.0.0.1', '[::1]'])
const BACKUP_HOURS_MAX = 26

export function checkAddress(publicUrl: string | undefined): Check {
  const name = 'address'
  const remedy = 'Set PUBLIC_URL to the https address that users and hosts call'
  if (!publicUrl || !URL.canParse(publicUrl)) return { name, state: 'failed', finding: 'PUBLIC_URL is not set', remedy }
  const { protocol, hostname, origin } = new URL(publicUrl)
  if (LOOPBACK.has(hostname)) return { name, state: 'failed', finding: `${origin} is this machine`, remedy }
  if (protocol !== 'https:') return { name, state: 'failed', finding: `${origin} is not encrypted`, remedy }
  return { name, state: 'ok', finding: origin }
}

/** Nothing in an installation knows of its backups: the operator says when the last one was made. */
export function checkBackup(lastBackup: Date | undefined, now: Date): Check {
  const name = 'backups'
  if (lastBackup === undefined) {
    return {
      name,
      state: 'warning',
      finding: 'not known here',
      remedy:
        'Restore one to try it, keep the master key apart from it, and say when it was made: --last-backup <moment> (docs/ops/back-up.md)',
    }
  }
  const hours = Math.round((now.getTime() - lastBackup.getTime()) / 3_600_000)
  if (hours >= 0 && hours <= BACKUP_HOURS_MAX) return { name, state: 'ok', finding: `${hours} hours old, as you say` }
  return { name, state: 'failed', finding: `${hours} hours old`, remedy: 'Make one every day' }
}

/** What a tenant needs before its first live session. */
export function checkTenant(tenant: TenantFacts): Check[] {
  return [
    checkKeys(tenant),
    checkPlan(tenant),
    checkClients(tenant),
    checkRedirects(tenant),
    checkThresholds(tenant),
    checkWebhookKeys(tenant),
  ].flatMap((check) => (check ? [{ ...check, name: `${tenant.name}: ${check.name}` }] : []))
}

const liveKeys = ({ keys }: TenantFacts) => keys.filter(({ livemode, status }) => livemode && status === 'active')

function checkKeys(tenant: TenantFacts): Check {
  const live = liveKeys(tenant)
  if (live.length > 0) return { name: 'live key', state: 'ok', finding: live.map((key) => key.name).join(', ') }
  const remedy = `Run: ostiary keys create --tenant ${JSON.stringify(tenant.name)} --live. Test keys know invented people only`
  return { name: 'live key', state: 'failed', finding: 'none', remedy }
}

function checkPlan(tenant: TenantFacts): Check | undefined {
  const plans = [...new Set(liveKeys(tenant).map((key) => key.usage_plan_id ?? 'standard'))]
  if (plans.length === 0) return undefined
  if (!plans.includes('unmetered')) return { name: 'rate plan', state: 'ok', finding: plans.join(', ') }
  const remedy = 'Only for keys of your own programs: one stolen key can then use the whole machine'
  return { name: 'rate plan', state: 'warning', finding: 'a live key is unmetered', remedy }
}

function checkClients(tenant: TenantFacts): Check | undefined {
  const asksThem = liveKeys(tenant).some(({ scopes }) => scopes.some((scope) => scope.startsWith('verify:')))
  const name = 'client credentials'
  if (tenant.settings.clientCredentials === 'never') {
    const remedy = 'A stolen key is then enough for area D: set clientCredentials=live'
    return { name, state: 'warning', finding: 'not asked for', remedy }
  }
  if (!asksThem) return undefined
  const live = tenant.clients.filter(({ livemode, status }) => livemode && status === 'active')
  if (live.length > 0) return { name, state: 'ok', finding: live.map((client) => client.name).join(', ') }
  const remedy = `Area D answers 401 without them. Run: ostiary clients create --tenant ${JSON.stringify(tenant.name)} --name <host> --live`
  return { name, state: 'failed', finding: 'none', remedy }
}

function checkRedirects({ name: tenant, settings }: TenantFacts): Check {
  const [name, { redirectUrls }] = ['redirect list', settings]
  if (redirectUrls.length > 0) return { name, state: 'ok', finding: redirectUrls.join(', ') }
  const remedy = `Run: ostiary tenants settings ${JSON.stringify(tenant)} --set 'redirectUrls=["https://…"]'`
  return { name, state: 'failed', finding: 'empty: users may be sent to any https address', remedy }
}

function checkThresholds({ settings }: TenantFacts): Check {
  const name = 'age buffer'
  if (settings.faceAgeMarginYears > 0) {
    return { name, state: 'ok', finding: `${settings.faceAgeMarginYears} years around the threshold decide nothing` }
  }
  return {
    name,
    state: 'warning',
    finding: 'faceAgeMarginYears is 0',
    remedy:
      'An estimate errs by years: ask for a threshold well above the legal age (30 for 18), or set faceAgeMarginYears (docs/api/age.md)',
  }
}

function checkWebhookKeys({ name: tenant, webhookKeys }: TenantFacts): Check {
  const name = 'webhook key pair'
  const live = webhookKeys.filter(({ livemode, status }) => livemode && status !== 'retired')
  if (live.length > 0) return { name, state: 'ok', finding: live.map(({ kid }) => kid).join(', ') }
  const remedy = `With one, a stolen API key cannot forge webhooks. Run: ostiary webhook-keys create --tenant ${JSON.stringify(tenant)} --live`
  return { name, state: 'warning', finding: 'none: the API key alone signs', remedy }
}
