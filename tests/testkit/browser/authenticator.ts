import { generateKeyPairSync } from 'node:crypto'
import type { CDPSession, Page } from 'playwright-core'

type Credential = Awaited<ReturnType<typeof credentialsIn>>[number]

/** What a person unlocks with a finger or a PIN. It is built into the machine of this page and always says yes. */
export interface Authenticator {
  /** What it holds, private keys included: a virtual one has no secrets. */
  credentials(): Promise<Credential[]>
  /** Replaces all that it holds, as another machine of the same person would have it, or that of somebody else. */
  holdOnly(credentials: readonly Credential[]): Promise<void>
}

/** Before the page asks for passkeys. It stays with the page, wherever that goes. */
export async function plugIn(page: Page): Promise<Authenticator> {
  const cdp = await page.context().newCDPSession(page)
  await cdp.send('WebAuthn.enable')
  const { authenticatorId } = await cdp.send('WebAuthn.addVirtualAuthenticator', {
    options: {
      protocol: 'ctap2',
      transport: 'internal',
      hasResidentKey: true,
      hasUserVerification: true,
      isUserVerified: true,
      automaticPresenceSimulation: true,
    },
  })
  return {
    credentials: () => credentialsIn(cdp, authenticatorId),
    async holdOnly(credentials) {
      await cdp.send('WebAuthn.clearCredentials', { authenticatorId })
      for (const credential of credentials) await cdp.send('WebAuthn.addCredential', { authenticatorId, credential })
    },
  }
}

async function credentialsIn(cdp: CDPSession, authenticatorId: string) {
  return (await cdp.send('WebAuthn.getCredentials', { authenticatorId })).credentials
}

/** By its name it is the passkey that it was made after, but whoever made it does not have the key. */
export function forged(credential: Credential): Credential {
  const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  return { ...credential, privateKey: privateKey.export({ type: 'pkcs8', format: 'der' }).toString('base64') }
}
