import { generateKeyPairSync } from 'node:crypto'
import type { CDPSession, Page } from 'playwright-core'

type Credential = Awaited<ReturnType<typeof credentialsIn>>[number]

/** A virtual authenticator that is built into the device of this page and always approves. */
export interface Authenticator {
  /** Its credentials, with their private keys: a virtual authenticator reveals them. */
  credentials(): Promise<Credential[]>
  /** Replaces its credentials, so that it becomes another device of the same person, or another person's device. */
  holdOnly(credentials: readonly Credential[]): Promise<void>
}

/** Call this before the page asks for passkeys. The authenticator stays with the page when it navigates. */
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

/** A forged passkey: it has the id of a real one but another private key. */
export function forged(credential: Credential): Credential {
  const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  return { ...credential, privateKey: privateKey.export({ type: 'pkcs8', format: 'der' }).toString('base64') }
}
