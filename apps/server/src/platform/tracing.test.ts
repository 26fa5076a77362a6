import assert from 'node:assert/strict'
import { test } from 'node:test'
import { loadTracing } from './tracing.ts'

const about = { serviceName: 'ostiary', version: '1' }
const config = { url: 'http://127.0.0.1:1', ratio: 1 }

test('OpenTelemetry is loaded only where it is switched on, and where it is not installed the process says so', async () => {
  assert.equal(await loadTracing(null, about, '@ostiary/not-there'), undefined)
  await assert.rejects(loadTracing(config, about, '@ostiary/not-there'), {
    message: /^TELEMETRY_URL is set and OpenTelemetry is not installed\. Install it .*, or remove the setting$/,
  })
})
