/**
 * Safe access to the browser's globals. A global may be missing, may have another type than the standard says, and its getter
 * may throw (extensions and privacy modes do all of this). So nothing here trusts a type, and nothing throws.
 */

/** The value at the end of the path, or undefined if it cannot be reached. */
export function at(start: unknown, ...path: readonly string[]): unknown {
  try {
    return path.reduce<unknown>((value, name) => (isReachable(value) ? Reflect.get(value, name) : undefined), start)
  } catch {
    return undefined
  }
}

/** Calls the method and returns its result, or undefined if the object has no such method. Does not catch what the method throws. */
export function call(target: unknown, method: string, ...parameters: readonly unknown[]): unknown {
  const found = at(target, method)
  return typeof found === 'function' ? Reflect.apply(found, target, parameters) : undefined
}

/** Like `call`, but an error of the method gives undefined. */
export function tryCall(target: unknown, method: string, ...parameters: readonly unknown[]): unknown {
  try {
    return call(target, method, ...parameters)
  } catch {
    return undefined
  }
}

export function text(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined
}

export function number(value: unknown): number | undefined {
  return typeof value === 'number' && Number.isFinite(value) ? value : undefined
}

export function flag(value: unknown): boolean | undefined {
  return typeof value === 'boolean' ? value : undefined
}

/** The entries of an array or of an array-like object, such as a PluginArray. */
export function list(value: unknown): readonly unknown[] | undefined {
  const length = number(at(value, 'length'))
  if (!isReachable(value) || length === undefined) return undefined
  return Array.from({ length: Math.min(length, MOST_ENTRIES) }, (_, index) => at(value, String(index)))
}

export function isReachable(value: unknown): value is object {
  return (typeof value === 'object' && value !== null) || typeof value === 'function'
}

export function has(target: unknown, name: string): boolean {
  try {
    return isReachable(target) && Reflect.has(target, name)
  } catch {
    return false
  }
}

/** Names of the object's own properties, including non-enumerable ones. */
export function ownNames(target: unknown): readonly string[] {
  try {
    return isReachable(target) ? Object.getOwnPropertyNames(target) : []
  } catch {
    return []
  }
}

const MOST_ENTRIES = 100
