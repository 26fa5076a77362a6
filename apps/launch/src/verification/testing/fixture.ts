/** A flow of ENROLL, SIGN-IN or VERIFY with test implementations around it. Only tests import this. */
import type { PasskeyOptions, VerificationFacts, VerificationType } from '@ostiary/contract'
import { createFlowFixture, type FlowFixtureOptions } from '../../flow/testing/fixture.ts'
import { faceOf, storageWith } from '../../local-token/testing/faces.ts'
import type { BrowserApis } from '../browser-apis.ts'
import { createVerification } from '../part.ts'

export interface VerificationFixtureOptions
  extends Omit<FlowFixtureOptions, 'purpose' | 'loadVerification' | 'engine'> {
  type?: VerificationType
  requirements?: string[]
  facts?: Partial<VerificationFacts>
  apis?: Partial<BrowserApis>
  tokens?: ReturnType<typeof storageWith>
  /** What the camera sees. */
  face?: Float32Array
  /** One per request for a passkey. When none is left, the request succeeds. */
  passkeys?: (Error | object)[]
}

export const FACTS: VerificationFacts = {
  realm: 'shop',
  version: 'FACE3_3',
  sendImages: false,
  estimateAge: false,
  matching: 'server',
}
export const SENSED = { lux: null, motion: 0.31 }
export const JPEG = Uint8Array.of(0xff, 0xd8, 0xff, 0xe0)
export const PASSKEY = { id: 'AQI', type: 'public-key' }

export async function createVerificationFixture(options: VerificationFixtureOptions = {}) {
  const { type = 'SIGN-IN', requirements = ['face'], tokens = storageWith(), face = faceOf(1) } = options
  const asked: PasskeyOptions[] = []
  const windows: string[] = []
  const given: Float32Array[] = []
  const begun: unknown[] = []
  const apis: BrowserApis = {
    isFramed: false,
    tokens,
    createTokens: null,
    sensors: { start: () => ({ stop: () => SENSED }) },
    passkeys: {
      async ask(question) {
        asked.push(question)
        const answer = options.passkeys?.shift() ?? PASSKEY
        if (answer instanceof Error) throw answer
        return answer
      },
    },
    openWindow: () => ({ go: (url) => void windows.push(url), close: () => void windows.push('closed') }),
    ...options.apis,
  }
  const fixture = await createFlowFixture({
    ...options,
    purpose: { type, requirements, verification: { ...FACTS, ...options.facts } },
    loadVerification: async () => (link) => createVerification(link, apis),
    engine: {
      embed: async () => {
        const vector = face.slice()
        given.push(vector)
        return vector
      },
      selfie: async () => JPEG,
      begin: async (outputs) => void begun.push(outputs),
    },
  })
  return {
    ...fixture,
    tokens,
    asked,
    windows,
    /** The vectors that the engine returned, with their current content. */
    given,
    /** The outputs that each `begin` of the engine got. */
    begun,
    /** Starts the flow and consents; the capture then runs by itself. */
    async capture(): Promise<void> {
      await fixture.flow.start()
      fixture.flow.actions.consent(true)
    },
  }
}

/** An error as `navigator.credentials` rejects with. */
export function refusal(name: string): Error {
  return Object.assign(new Error(name), { name })
}
