import { withServices } from '@ostiary/server/operate'
import type { Command } from '../command.ts'

export const keyHolderCommands: readonly Command[] = [
  {
    name: 'key-holder',
    usage: 'ostiary key-holder',
    run: ({ env, terminal }) =>
      withServices(env, async ({ keyHolder }) => {
        const ours = await keyHolder.ownPublicKey()
        if (ours === null) {
          terminal.err('No key holder is configured: set KEY_HOLDER_URL, KEY_HOLDER_KEY and KEY_HOLDER_CLIENT_KEY')
          return 1
        }
        terminal.out(`Our public key, for MATCHER_KEYS of the key holder:  ${ours}`)
        try {
          const { fingerprint } = await keyHolder.key()
          terminal.out(`Its fingerprint, for KEY_HOLDER_FINGERPRINT of the page’s build:  ${fingerprint}`)
          return 0
        } catch {
          terminal.err('It does not answer yet. ostiary doctor says what to look at')
          return 1
        }
      }),
  },
]
