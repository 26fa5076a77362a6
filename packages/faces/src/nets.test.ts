import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createNets } from './nets.ts'
import { scriptedNets } from './testing/scripted-nets.ts'
import { NETS, type NetId, type Tensor } from './types.ts'

const INPUT: Tensor = { dims: [1, 1, 24, 24], data: new Float32Array(576) }

test('a net is loaded when it is first needed, and once', async () => {
  const scripted = scriptedNets()
  const nets = createNets(scripted.load)
  assert.deepEqual(scripted.loads, [])
  await Promise.all([nets.run('fr_eye', INPUT), nets.run('fr_eye', INPUT)])
  await nets.run('fr_eye', INPUT)
  assert.deepEqual(scripted.loads, ['fr_eye'])
})

test('a net that could not be loaded is tried again', async () => {
  const scripted = scriptedNets()
  let failures = 1
  const nets = createNets(async (id) => {
    if (failures-- > 0) throw new Error('no connection')
    return scripted.load(id)
  })
  await assert.rejects(nets.run('fr_eye', INPUT), /no connection/)
  assert.ok(await nets.run('fr_eye', INPUT))
})

test('every net is warmed up with as many numbers as its size says', async () => {
  const seen = new Map<NetId, Tensor>()
  const nets = createNets(async (id) => ({
    async run(input) {
      seen.set(id, input)
      return {}
    },
  }))
  for (const id of NETS) await nets.warmUp(id)
  assert.equal(seen.size, NETS.length)
  for (const { dims, data } of seen.values())
    assert.equal(
      dims.reduce((product, size) => product * size, 1),
      data.length,
    )
})
