import { readFileSync } from 'node:fs'
import { extname } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import { TENANT_SETTINGS_DEFAULTS, type TenantSettings } from '@ostiary/contract'
import { AppError, withServices } from '@ostiary/server/operate'
import { answer, argument, type Command, fileOf, type Invocation, texts, UsageError } from '../command.ts'
import { table } from '../terminal.ts'
import { resolveTenant } from './tenants.ts'

export const settingsCommands: readonly Command[] = [
  {
    name: 'tenants settings',
    usage: `ostiary tenants settings <id or name> [--file <changes.json>] [--set <name>=<value>]... [--logo <file>] [--json]

Without --file and --set it shows the settings. A value is JSON, or a text as it stands; null goes back to the default.
What is not named stays as it is; a list is replaced as a whole. All changes are made together, or none. --logo puts a
picture (.png, .webp, .svg, at most 18 KB) into the brand.

  ostiary tenants settings "Fjord Rentals" --set retentionSeconds=3600 --set 'redirectUrls=["https://fjord.example"]'
  ostiary tenants settings "Fjord Rentals" --set 'brand={"name":"Fjord","primary":"#0b57d0"}' --logo fjord.svg`,
    options: { file: { type: 'string' }, set: { type: 'string', multiple: true }, logo: { type: 'string' } },
    run: (invocation) => {
      const given = patchOf(invocation)
      const logo = logoOf(invocation)
      return withServices(invocation.env, async (services) => {
        const tenantId = await resolveTenant(services, argument(invocation, 'tenant'))
        const patch = logo === undefined ? given : withLogo(logo, given, await services.settings.get(tenantId))
        const settings = patch
          ? await services.settings.set(tenantId, patch).catch(inWords)
          : await services.settings.get(tenantId)
        answer(invocation, settings, overview(settings))
        if (patch) invocation.terminal.err('Changed; effective everywhere within 5 seconds')
        return 0
      })
    },
  },
]

/** The requested changes. A --set wins over the file. */
function patchOf(invocation: Invocation): Record<string, unknown> | undefined {
  const file = fileOf(invocation, 'file')
  const assignments = texts(invocation, 'set').map(readAssignment)
  if (file === undefined && assignments.length === 0) return undefined
  return { ...(file !== undefined && readPatchFile(file)), ...Object.fromEntries(assignments) }
}

const LOGO_TYPES: Readonly<Record<string, string>> = { '.png': 'png', '.webp': 'webp', '.svg': 'svg+xml' }

/** The picture of --logo as a data URL, the form in which settings store it. */
function logoOf(invocation: Invocation): string | undefined {
  const path = fileOf(invocation, 'logo')
  if (path === undefined) return undefined
  const type = LOGO_TYPES[extname(path).toLowerCase()]
  if (type === undefined) throw new UsageError('--logo must be a .png, .webp or .svg file')
  return `data:image/${type};base64,${readBytes(path, '--logo').toString('base64')}`
}

/** Puts the logo into the brand that this call sets, or else into the stored one. */
function withLogo(logo: string, patch: Record<string, unknown> = {}, current: TenantSettings): Record<string, unknown> {
  const brand = patch.brand ?? current.brand
  if (typeof brand !== 'object' || brand === null) {
    throw new UsageError(`--logo needs a brand: add --set 'brand={"name":"…"}'`)
  }
  return { ...patch, brand: { ...brand, logo } }
}

function readAssignment(assignment: string): [string, unknown] {
  const [, name, value] = /^([^=]+)=(.*)$/s.exec(assignment) ?? []
  if (name === undefined || value === undefined) throw new UsageError('--set must be <name>=<value>')
  try {
    return [name, JSON.parse(value)]
  } catch {
    return [name, value]
  }
}

function readPatchFile(path: string): object {
  const content = readBytes(path, '--file').toString('utf8')
  try {
    const parsed: unknown = JSON.parse(content)
    if (typeof parsed === 'object' && parsed !== null && !Array.isArray(parsed)) return parsed
  } catch {
    // Text that is not JSON gets the same error as JSON that is not an object, below.
  }
  throw new UsageError('--file must name a JSON object, as in { "retentionSeconds": 3600 }')
}

function readBytes(path: string, option: string): Buffer {
  try {
    return readFileSync(path)
  } catch {
    throw new UsageError(`${option} cannot be read`)
  }
}

/** Turns the validation errors of the settings into one usage error. */
function inWords(error: unknown): never {
  if (!(error instanceof AppError) || error.fault !== 'invalid_request') throw error
  const places = (error.extra.details ?? []).map(({ pointer, message }) => `  ${pointer || '/'} ${message}`)
  throw new UsageError(['The settings are not valid; nothing was changed:', ...places].join('\n'))
}

function overview(settings: TenantSettings): string {
  const defaults: Record<string, unknown> = { ...TENANT_SETTINGS_DEFAULTS }
  const rows = Object.entries(settings).map(([name, value]) => [
    name,
    typeof value === 'string' ? value : JSON.stringify(value, shortened),
    isDeepStrictEqual(value, defaults[name]) ? 'default' : '',
  ])
  return table(['SETTING', 'VALUE', ''], rows)
}

/** Shortens a picture, which is thousands of characters. --json prints it whole. */
function shortened(_name: string, value: unknown): unknown {
  const [start] = typeof value === 'string' ? (/^data:[^,]*/.exec(value) ?? []) : []
  return start === undefined ? value : `${start} … (${Buffer.byteLength(String(value))} letters)`
}
