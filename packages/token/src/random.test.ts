import assert from 'node:assert/strict'
import { createCipheriv, hkdfSync } from 'node:crypto'
import { test } from 'node:test'
import { TOKEN_PARAMETERS } from './parameters.ts'
import { expand, noise, sparseSigns, systemRandomness, ternary, uniformModuloT } from './random.ts'

const { n, t, noiseBits } = TOKEN_PARAMETERS

test('a seed is expanded by AES-256-CTR under a key by HKDF-SHA-256', async () => {
  const [seed, salt] = [systemRandomness(32), systemRandomness(32)]
  const key = Buffer.from(hkdfSync('sha256', seed, salt, 'ostiary token 1 a label', 32))
  const expected = createCipheriv('aes-256-ctr', key, Buffer.alloc(16)).update(Buffer.alloc(1000))
  assert.deepEqual(Buffer.from(await expand(seed, 'a label', 1000, salt)), expected)
})

test('more random bytes than one call gives are all filled', () => {
  const bytes = systemRandomness(200_000)
  for (let at = 0; at < bytes.length; at += 1000) assert.ok(bytes.subarray(at, at + 1000).some((byte) => byte !== 0))
})

test('the secret’s numbers are -1, 0 and 1, equally often', () => {
  const values = Array.from({ length: 20 }, () => [...ternary(systemRandomness(1280))]).flat()
  for (const number of [-1, 0, 1]) near(values.filter((value) => value === number).length / values.length, 1 / 3, 0.02)
  assert.throws(() => ternary(new Uint8Array(1280).fill(255)))
})

test('the noise is t times numbers with the variance of the centred binomial', () => {
  const values = Array.from({ length: 20 }, () => [...noise(systemRandomness(6 * n))]).flat()
  assert.equal(values.length, 20 * n)
  assert.ok(values.every((value) => value % t === 0 && Math.abs(value) <= noiseBits * t))
  near(values.reduce((sum, value) => sum + value / t, 0) / values.length, 0, 0.1)
  near(values.reduce((sum, value) => sum + (value / t) ** 2, 0) / values.length, noiseBits / 2, 0.5)
  assert.deepEqual([...noise(Uint8Array.of(255, 255, 255, 0, 0, 0xe0))], [noiseBits * t], 'three bits are left over')
})

test('weights modulo t are uniform and stand only where they should', () => {
  const values = Array.from({ length: 10 }, () => [...uniformModuloT(systemRandomness(2048), 1, 513)]).flat()
  assert.ok(values.every((value, at) => (at % n >= 1 && at % n <= 512) || value === 0))
  const used = values.filter((_, at) => at % n >= 1 && at % n <= 512)
  assert.ok(used.every((value) => Math.abs(value) <= (t - 1) / 2))
  near(used.reduce((sum, value) => sum + value, 0) / used.length / t, 0, 0.02)
  near(used.reduce((sum, value) => sum + Math.abs(value), 0) / used.length / t, 0.25, 0.01)
  assert.throws(() => uniformModuloT(new Uint8Array(2048).fill(255), 0, n))
})

test('half of the signs are 0, a quarter 1, a quarter -1', () => {
  const values = Array.from({ length: 20 }, () => [...sparseSigns(systemRandomness(256))]).flat()
  const share = (number: number) => values.filter((value) => value === number).length / values.length
  near(share(0), 0.5, 0.02)
  near(share(1), 0.25, 0.02)
  near(share(-1), 0.25, 0.02)
})

function near(value: number, expected: number, tolerance: number): void {
  assert.ok(Math.abs(value - expected) < tolerance, `${value} is not within ${tolerance} of ${expected}`)
}
