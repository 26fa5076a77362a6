import type { Config } from './config.ts'
import type { Check } from './doctor-check.ts'
import type { Wire } from './wire.ts'

const LOOPBACK = new Set(['localhost', '127.0.0.1', '[::1]'])

/** Whether the key holder answers, and whether it is another machine than this one: one administrator of both could read every face vector. */
export async function checkKeyHolder({ keyHolder }: Config, { matcher }: Wire): Promise<Check> {
  const name = 'key holder'
  if (!keyHolder) return { name, state: 'ok', finding: 'none: tenants cannot set templates to token' }
  try {
    await matcher.keyHolder.key()
  } catch {
    return {
      name,
      state: 'failed',
      finding: `${keyHolder.url} gives no signed answer, so nobody signs in by token`,
      remedy:
        'Does it run, does it know our public key (ostiary key-holder), is KEY_HOLDER_KEY the serviceKey that its command "keys" prints, and are both clocks right?',
    }
  }
  if (!LOOPBACK.has(new URL(keyHolder.url).hostname)) return { name, state: 'ok', finding: `${keyHolder.url} answers` }
  return {
    name,
    state: 'warning',
    finding: `${keyHolder.url} is on this machine: its administrator holds both halves of every key`,
    remedy: 'In production run it on another machine under another administrator. See docs/ops/key-holder.md',
  }
}
