import type { DeviceClock } from '@ostiary/device'
import type { ClientHints, NavigatorFacts, SignalEnvironment, WindowFacts } from './environment.ts'
import { EXPECTED_INTERFACES } from './interfaces.ts'
import { createProbes } from './probes.ts'
import { at, flag, has, isReachable, list, number, ownNames, text, tryCall } from './reach.ts'

/** The only place that reads the browser's globals: `readEnvironment(globalThis, systemClock)`. Never throws. */
export function readEnvironment(globals: object, clock: DeviceClock): SignalEnvironment {
  const document = at(globals, 'document')
  const notification = at(globals, 'Notification')
  return {
    navigator: readNavigator(at(globals, 'navigator')),
    window: readWindow(globals),
    document: {
      properties: ownNames(document),
      rootAttributes: rootAttributes(document),
      isVisible: at(document, 'visibilityState') !== 'hidden',
    },
    screen: { width: number(at(globals, 'screen', 'width')), height: number(at(globals, 'screen', 'height')) },
    time: readTime(globals, clock.nowMs()),
    notification: { exists: isReachable(notification), permission: text(at(notification, 'permission')) },
    missingInterfaces: Object.keys(EXPECTED_INTERFACES).filter((name) => at(globals, name) === undefined),
    replacedFunctions: replacedFunctions(globals),
    probes: createProbes(globals, clock),
  }
}

function readNavigator(navigator: unknown): NavigatorFacts {
  return {
    userAgent: text(at(navigator, 'userAgent')) ?? '',
    platform: text(at(navigator, 'platform')),
    vendor: text(at(navigator, 'vendor')),
    webdriver: flag(at(navigator, 'webdriver')),
    language: text(at(navigator, 'language')),
    languages: list(at(navigator, 'languages'))?.map((tag) => text(tag) ?? ''),
    pluginCount: number(at(navigator, 'plugins', 'length')),
    maxTouchPoints: number(at(navigator, 'maxTouchPoints')),
    hasDeviceMemory: has(navigator, 'deviceMemory'),
    deviceMemory: number(at(navigator, 'deviceMemory')),
    connectionRttMs: number(at(navigator, 'connection', 'rtt')),
    clientHints: readClientHints(at(navigator, 'userAgentData')),
    isBrave: typeof at(navigator, 'brave', 'isBrave') === 'function',
    ownProperties: ownNames(navigator),
  }
}

function readClientHints(hints: unknown): ClientHints | undefined {
  if (!isReachable(hints)) return undefined
  return {
    brands: (list(at(hints, 'brands')) ?? []).map((entry) => ({
      brand: text(at(entry, 'brand')) ?? '',
      version: text(at(entry, 'version')) ?? '',
    })),
    mobile: flag(at(hints, 'mobile')),
    platform: text(at(hints, 'platform')) ?? '',
  }
}

function readWindow(globals: object): WindowFacts {
  return {
    properties: ownNames(globals),
    hasChrome: isReachable(at(globals, 'chrome')),
    isTop: at(globals, 'top') === at(globals, 'self'),
    isSecureContext: at(globals, 'isSecureContext') === true,
    innerWidth: number(at(globals, 'innerWidth')),
    innerHeight: number(at(globals, 'innerHeight')),
    outerWidth: number(at(globals, 'outerWidth')),
    outerHeight: number(at(globals, 'outerHeight')),
  }
}

function rootAttributes(document: unknown): readonly string[] {
  const names = list(tryCall(at(document, 'documentElement'), 'getAttributeNames'))
  return (names ?? []).flatMap((name) => text(name) ?? [])
}

function readTime(globals: object, nowMs: number) {
  const format = tryCall(at(globals, 'Intl'), 'DateTimeFormat')
  return {
    nowMs,
    zone: text(at(tryCall(format, 'resolvedOptions'), 'timeZone')),
    offsetMinutes: offsetMinutes(globals, nowMs),
  }
}

/** Date counts minutes west of Greenwich; everything else counts east. */
function offsetMinutes(globals: object, nowMs: number): number | undefined {
  const Clock = at(globals, 'Date')
  try {
    const west =
      typeof Clock === 'function' ? tryCall(Reflect.construct(Clock, [nowMs]), 'getTimezoneOffset') : undefined
    const minutes = number(west)
    return minutes === undefined ? undefined : 0 - minutes
  } catch {
    return undefined
  }
}

/** Functions that a script would replace to supply its own pictures, names or answers. */
const GUARDED: readonly (readonly [path: readonly string[], method: string])[] = [
  [['navigator', 'mediaDevices'], 'getUserMedia'],
  [['navigator', 'mediaDevices'], 'enumerateDevices'],
  [['navigator', 'permissions'], 'query'],
]

function replacedFunctions(globals: object): readonly string[] {
  return GUARDED.flatMap(([path, method]) => {
    const owner = at(globals, ...path)
    const found = at(owner, method)
    if (typeof found !== 'function') return []
    const isReplaced = ownNames(owner).includes(method) || !isNative(globals, found)
    return isReplaced ? [`${path.at(-1)}.${method}`] : []
  })
}

/** Calls the prototype's `toString`, because a replaced function may have its own. */
function isNative(globals: object, found: object): boolean {
  const toText = at(globals, 'Function', 'prototype', 'toString')
  const source = text(tryCall(toText, 'call', found))
  return source === undefined || /\{\s*\[native code\]\s*\}\s*$/.test(source)
}
