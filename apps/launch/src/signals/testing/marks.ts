import { INDICATOR_PATHS, type IndicatorPath } from '@ostiary/contract'
import { collectSignals } from '../collect.ts'
import { readEnvironment } from '../read-environment.ts'
import { type BrowserName, browser, CAMERA, type FakeBrowser } from './browsers.ts'

/** Changes something about a browser's globals. */
export type Patch = (fake: FakeBrowser) => void

/** The mark of one indicator in this browser, after the patch. */
export async function markOf(
  path: IndicatorPath,
  name: BrowserName,
  { patch, camera = CAMERA }: { patch?: Patch; camera?: { label: string } | null } = {},
): Promise<string | undefined> {
  const fake = browser(name)
  patch?.(fake)
  const env = readEnvironment(fake.globals, fake.clock)
  const { indicators } = await (camera ? collectSignals(env, camera) : collectSignals(env))
  return indicators[INDICATOR_PATHS.indexOf(path)]
}

/** Sets the value at the path where a browser has it: on the prototype, if the object has its own. */
export function set(path: string, value: unknown): Patch {
  return ({ globals }) => {
    const { owner, name } = reach(globals, path)
    Reflect.set(prototypeOf(owner) ?? owner, name, value)
  }
}

/** Defines a property on the object itself, as scripts do. */
export function putOn(path: string, value: unknown): Patch {
  return ({ globals }) => {
    const { owner, name } = reach(globals, path)
    Object.defineProperty(owner, name, { value, configurable: true })
  }
}

/** Removes a property, wherever it is defined. */
export function remove(path: string): Patch {
  return ({ globals }) => {
    const { owner, name } = reach(globals, path)
    Reflect.deleteProperty(owner, name)
    Reflect.deleteProperty(prototypeOf(owner) ?? owner, name)
  }
}

export function all(...patches: readonly Patch[]): Patch {
  return (fake) => {
    for (const patch of patches) patch(fake)
  }
}

/** The own prototype of navigator or document. The shared prototypes of objects and functions must not change. */
function prototypeOf(owner: object): object | undefined {
  const prototype: unknown = Object.getPrototypeOf(owner)
  const isShared = prototype === Object.prototype || prototype === Function.prototype || prototype === Array.prototype
  return isShared ? undefined : Object(prototype)
}

function reach(globals: object, path: string): { owner: object; name: string } {
  const names = path.split('.')
  const name = names.pop() ?? ''
  const owner = names.reduce<object>((value, step) => Object(Reflect.get(value, step)), globals)
  return { owner, name }
}
