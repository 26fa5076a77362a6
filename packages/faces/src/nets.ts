import type { LoadNet, Net, NetId, Tensor } from './types.ts'

export type Outputs = Readonly<Record<string, Tensor>>

export interface Nets {
  run(id: NetId, input: Tensor): Promise<Outputs>
  /** Loads a net and runs it once on zeros, because the first run of a net is slower than the others. */
  warmUp(id: NetId): Promise<void>
}

const INPUT_DIMS: Readonly<Record<NetId, readonly number[]>> = {
  blazeface: [1, 256, 256, 3],
  facemesh: [1, 192, 192, 3],
  fr_feature: [1, 3, 112, 112],
  dlib: [1, 3, 150, 150],
  fa_age: [2, 3, 112, 112],
  faceres_deep: [1, 224, 224, 3],
  fr_eye: [1, 1, 24, 24],
  fr_liveness: [1, 3, 128, 128],
}

/** Loads each net once, when it is first needed. After a failure the next use tries again. */
export function createNets(load: LoadNet): Nets {
  const loaded = new Map<NetId, Promise<Net>>()
  const get = (id: NetId): Promise<Net> => {
    const known = loaded.get(id)
    if (known) return known
    const net = load(id)
    loaded.set(id, net)
    net.catch(() => loaded.delete(id))
    return net
  }
  const nets: Nets = {
    async run(id, input) {
      return (await get(id)).run(input)
    },
    async warmUp(id) {
      const dims = INPUT_DIMS[id]
      await nets.run(id, { dims, data: new Float32Array(dims.reduce((product, size) => product * size, 1)) })
    },
  }
  return nets
}
