import type { PasskeyOptions } from '@ostiary/contract'
import { createTokenStorage } from '../local-token/token-storage.ts'
import type { BrowserApis, OwnWindow } from './browser-apis.ts'
import { answerToJson, creationOf, requestOf } from './passkey-json.ts'
import { createSensors, type SensorWindow } from './sensors.ts'

/** The size of a phone, because the flow is designed for one. */
const WINDOW = 'popup,width=460,height=780'

export function createBrowserApis({ createTokens }: Pick<BrowserApis, 'createTokens'>): BrowserApis {
  return {
    isFramed: window.parent !== window,
    passkeys: typeof PublicKeyCredential === 'undefined' ? null : { ask },
    tokens: createTokenStorage(),
    createTokens,
    sensors: createSensors(window as SensorWindow),
    openWindow,
  }
}

async function ask({ mode, options }: PasskeyOptions): Promise<object> {
  const { credentials } = navigator
  const answer =
    mode === 'create'
      ? await credentials.create({ publicKey: creationOf(options) })
      : await credentials.get({ publicKey: requestOf(options) })
  if (!(answer instanceof PublicKeyCredential)) throw new Error('The browser answered with something else')
  return answerToJson(answer)
}

/** Opens an empty window: browsers open one only right after a tap, and its URL is known only after a call. */
function openWindow(): OwnWindow | null {
  const opened = window.open('', '_blank', WINDOW)
  return opened && { go: (url) => opened.location.replace(url), close: () => opened.close() }
}
