import { type LaunchState, type OpenedSession, type PasskeyOptions, writeIndicators } from '@ostiary/contract'
import { createDevice, type Device } from '@ostiary/device'
import { createSimulatedClock, runFlow, type SimulatedClock, seededRandom } from '@ostiary/device/simulated'
import { createAuthenticator, createFaces } from '@ostiary/server/measure'

const USER_AGENTS = {
  phone: 'Mozilla/5.0 (Linux; Android 15; Pixel 9) AppleWebKit/537.36 Chrome/140.0 Mobile Safari/537.36',
  desktop: 'Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 Chrome/140.0 Safari/537.36',
} as const

/** A person: a face, and a passkey that their devices share. */
export interface Person {
  look(): readonly number[]
  passkey(asked: PasskeyOptions): Promise<object>
}

export function createPeople(origin: string) {
  const faces = createFaces(14)
  return function newPerson(): Person {
    const face = faces.person()
    const own = createAuthenticator({ origin, rpId: new URL(origin).hostname })
    return {
      look: () => faces.sample(face, 0.9),
      passkey: async ({ mode, options }) => (mode === 'create' ? own.create(options) : own.get(options)),
    }
  }
}

/** One session in one browser: the page with its own key, and the time that passes there. */
export interface Tab {
  device: Device
  clock: SimulatedClock
}

/** A browser: its own cookies, its own address, and one key for each session that it opens. */
export function createBrowser(baseUrl: string, number: number, kind: 'phone' | 'desktop' = 'phone') {
  let cookie = ''
  const address = `10.${(number >> 16) & 255}.${(number >> 8) & 255}.${number & 255}`
  const throughProxy: typeof fetch = (input, init) => {
    const headers = new Headers(init?.headers)
    headers.set('x-forwarded-for', address)
    return fetch(input, { ...init, headers })
  }

  return {
    /** Calls the host, with the cookies that the host has set in this browser. */
    async call(url: string): Promise<{ status: number; body: Record<string, unknown> }> {
      const response = await fetch(url, { headers: { cookie } })
      cookie = response.headers.get('set-cookie')?.split(';', 1)[0] ?? cookie
      return { status: response.status, body: (await response.json()) as Record<string, unknown> }
    },
    /** The state that the host has put into this browser's cookie. */
    state: () => cookie.replace(/^state=/, ''),
    /** A new page with a new key, as another browser profile or a browser without storage has. */
    async newTab(sessionId: string): Promise<Tab> {
      const clock = createSimulatedClock({ nowMs: () => Date.now(), monotonicMs: () => performance.now() })
      const platform = kind === 'phone' ? 'mobile' : 'desktop'
      const userAgent = USER_AGENTS[kind]
      return {
        clock,
        device: await createDevice({ baseUrl, sessionId, platform, clock, userAgent, fetch: throughProxy }),
      }
    },
  }
}
export type Browser = ReturnType<typeof createBrowser>

/** The person does what the page asks, to the end. */
export function complete(
  { device, clock }: Tab,
  person: Person,
  { seed, ...handoff }: { seed: number; handoffCode?: string; number?: string },
): Promise<LaunchState> {
  return runFlow(device, {
    ...{ clock, random: seededRandom(seed), ageYears: null, vector: person.look() },
    passkey: person.passkey,
    indicators: writeIndicators(new Set()),
    browser: { kind: 'ordinary' },
    ...handoff,
  })
}

/** What the page does at the end in a popup or a frame: its message reaches the window that opened it only at a listed origin. */
export function messageTo(origin: string, opened: Pick<OpenedSession, 'embedOrigins'>, end: LaunchState) {
  return opened.embedOrigins.includes(origin) ? { code: end.code, redirectUrl: end.redirectUrl } : {}
}
