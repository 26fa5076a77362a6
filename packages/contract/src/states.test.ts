import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import {
  AGE_STATES,
  FACE_STATES,
  FINAL_STATES,
  LaunchState,
  SERVICE_STATES,
  SESSION_STATES,
  type SessionState,
  VERIFICATION_STATES,
} from './index.ts'

test('the device API can answer with every state of both kinds of session, and with no other', () => {
  assert.deepEqual(LaunchState.properties.state.enum, SESSION_STATES)
  assert.deepEqual(new Set(SESSION_STATES), new Set([...AGE_STATES, ...VERIFICATION_STATES]))
  assert.equal(new Set(SESSION_STATES).size, SESSION_STATES.length)
})

test('final states come last in each list, and the page waits for the service in none of them', () => {
  const isFinal = (state: SessionState) => FINAL_STATES.some((final) => final === state)
  assert.deepEqual(AGE_STATES.filter(isFinal), AGE_STATES.slice(-3))
  assert.deepEqual(VERIFICATION_STATES.filter(isFinal), VERIFICATION_STATES.slice(-4))
  assert.deepEqual([...SERVICE_STATES, ...FACE_STATES].filter(isFinal), [])
  for (const state of [...SERVICE_STATES, ...FACE_STATES]) assert.ok(SESSION_STATES.includes(state), state)
})

test('entries that the launch page imports bring no validator into it', () => {
  for (const entry of ['codes', 'consent-versions', 'documents', 'limits', 'links', 'movements', 'paths', 'states']) {
    const source = readFileSync(new URL(`./${entry}.ts`, import.meta.url), 'utf8')
    // Of ours only a file that is in this list too.
    assert.doesNotMatch(source, /^(import|export)\b.*\bfrom\b (?!'\.\/consent-versions\.ts')/m, entry)
  }
})
