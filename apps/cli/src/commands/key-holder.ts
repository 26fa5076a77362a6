import { withServices } from '@ostiary/server/operate'
import type { Command } from '../command.ts'

export const keyHolderCommands: readonly Command[] = [
  {
    name: 'key-holder',
    usage: 'ostiary key-holder [--json]',
    run: ({ env, terminal, options }) =>
      withServices(env, async ({ keyHolder }) => {
        const ours = await keyHolder.ownPublicKey()
        if (ours === null) {
          throw new Error('No key holder is configured: set KEY_HOLDER_URL, KEY_HOLDER_KEY and KEY_HOLDER_CLIENT_KEY')
        }
        if (!options.json) terminal.out(`Our public key, for MATCHER_KEYS of the key holder:  ${ours}`)
        const found = await keyHolder.key().catch(() => null)
        if (options.json) {
          terminal.out(JSON.stringify({ publicKey: ours, fingerprint: found?.fingerprint ?? null }))
        } else if (found) {
          terminal.out(`Its fingerprint, for KEY_HOLDER_FINGERPRINT of the page’s build:  ${found.fingerprint}`)
        } else terminal.err('It does not answer yet. ostiary doctor says what to look at')
        return found ? 0 : 1
      }),
  },
]
