import type { Command } from './command.ts'

/**
 * What a command works with: a service that answers at an address; the database, the master key or the lists of this machine
 * (decision 0004); or neither. `@ostiary/cli` as a package has no command that needs the machine.
 */
export type Needs = 'service' | 'machine' | 'nothing'

/** One line of the help. The code of a command is loaded only when it runs: most commands need the server, and help does not. */
export interface CommandEntry {
  name: string
  summary: string
  needs: Needs
  load(): Promise<Command>
}

/** The commands of one file, with what the help says about each. */
function group(
  needs: Needs,
  load: () => Promise<readonly Command[]>,
  summaries: Readonly<Record<string, string>>,
): CommandEntry[] {
  return Object.entries(summaries).map(([name, summary]) => ({
    name,
    summary,
    needs,
    async load() {
      const command = (await load()).find((one) => one.name === name)
      if (!command) throw new Error(`The command "${name}" is in the list but its file does not export it`)
      return command
    },
  }))
}

/** The command line's table of contents. */
export const COMMANDS: readonly CommandEntry[] = [
  ...group('service', async () => (await import('./commands/login.ts')).loginCommands, {
    login: 'Store the address of a service and a key for it',
    logout: 'Forget them',
  }),
  ...group('nothing', async () => (await import('./commands/profiles.ts')).profileCommands, {
    'profiles list': 'Show what was stored, with masked keys',
    'profiles use': 'Choose the profile that commands use',
    'profiles show': 'Show which service and key a command would use now, and why',
  }),
  ...group('service', async () => (await import('./commands/trigger.ts')).triggerCommands, {
    trigger: 'Create a test session and end it, so that an event or a code is sent',
  }),
  ...group('service', async () => (await import('./commands/sessions.ts')).sessionCommands, {
    'sessions list': 'Show the sessions of areas C and D, newest first',
    'sessions show': 'Show a session with its result and its webhooks',
    'sessions watch': 'Show what happens to a session until it ends, or to all',
    'sessions cancel': 'End an open session',
  }),
  ...group('service', async () => (await import('./commands/lockouts.ts')).lockoutCommands, {
    'lockouts show': 'Show what counts against a person whose comparisons failed',
    'lockouts clear': 'Free a person who is locked out',
  }),
  ...group('service', async () => (await import('./commands/users.ts')).userCommands, {
    'users delete': 'Delete a user with all biometric data',
  }),
  ...group('service', async () => (await import('./commands/deliveries.ts')).deliveryCommands, {
    'deliveries list': 'Show the webhooks that were sent, or are to be sent',
    'deliveries show': 'Show a webhook with its attempts',
    'deliveries replay': 'Send a webhook again, or all that failed',
  }),
  ...group('service', async () => (await import('./commands/doctor-webhook.ts')).doctorWebhookCommands, {
    'doctor webhook': 'Send events to your receiver and say what its answers mean',
  }),
  ...group('nothing', async () => (await import('./commands/completion.ts')).completionCommands, {
    completion: 'Print the completion script of bash, zsh or fish',
  }),
  ...group('machine', async () => (await import('./commands/machine.ts')).machineCommands, {
    doctor: 'Check everything the service needs and say what to do',
    migrate: 'Bring the database, or every cell, to this version’s schema',
    reseal: 'After a change of the master key: seal all stored secrets with the new one',
  }),
  ...group('machine', async () => (await import('./commands/doctor-live.ts')).doctorLiveCommands, {
    'doctor live': 'The checklist before the first live session',
  }),
  ...group('machine', async () => (await import('./commands/key-holder.ts')).keyHolderCommands, {
    'key-holder': 'Show what this server and the key holder have to know of each other',
  }),
  ...group('machine', async () => (await import('./commands/tenants.ts')).tenantCommands, {
    'tenants create': 'Make a tenant: one customer of this installation',
    'tenants list': 'Show all tenants',
    'tenants suspend': 'Stop all keys of a tenant; nothing is deleted',
    'tenants resume': 'Let a suspended tenant’s keys work again',
  }),
  ...group('machine', async () => (await import('./commands/settings.ts')).settingsCommands, {
    'tenants settings': 'Show or change what a tenant has set',
  }),
  ...group('machine', async () => (await import('./commands/hosts.ts')).hostCommands, {
    'tenants hosts add': 'Give a tenant a host name at which area E serves this tenant only',
    'tenants hosts list': 'Show the host names of one tenant or of all',
    'tenants hosts remove': 'Let a host name serve everybody again',
  }),
  ...group('machine', async () => (await import('./commands/keys.ts')).keyCommands, {
    'keys create': 'Make an API key. It is shown once',
    'keys list': 'Show the keys of a tenant, masked',
    'keys rotate': 'Create a successor; the old key works for 7 more days',
    'keys revoke': 'Stop a key for ever; effective everywhere within 5 seconds',
  }),
  ...group('machine', async () => (await import('./commands/clients.ts')).clientCommands, {
    'clients create': 'Make a client of area D. Its secret is shown once',
    'clients list': 'Show the clients of a tenant, without secrets',
    'clients revoke': 'Stop a client and its tokens for ever; effective everywhere within 5 seconds',
  }),
  ...group('machine', async () => (await import('./commands/webhook-keys.ts')).webhookKeyCommands, {
    'webhook-keys create': 'Sign a tenant’s webhooks with a key pair too, beside the API key',
    'webhook-keys list': 'Show the key pairs of a tenant’s webhooks',
    'webhook-keys rotate': 'Create a successor; both sign for 7 more days',
    'webhook-keys retire': 'End a key pair at once and erase its private half',
  }),
  ...group('machine', async () => (await import('./commands/node.ts')).nodeCommands, {
    'node stats': 'Show what area E stores, by tenant, mode and model version',
    'node reindex': 'Rebuild the search copies and indexes of area E from the sealed copies',
  }),
  ...group('machine', async () => (await import('./commands/node-models.ts')).nodeModelCommands, {
    'node models declare': 'Let a tenant use a face model of its own in area E',
    'node models list': 'Show the face models that a tenant has declared',
    'node models remove': 'Remove a declared face model that nobody is enrolled in',
  }),
  ...group('machine', async () => (await import('./commands/datasets.ts')).datasetCommands, {
    'datasets enable': 'Bring public sanctions lists (OFAC, UN, OpenSanctions) by name and keep them fresh',
    'datasets import': 'Read a sanctions list and put it into service',
    'datasets list': 'Show the sanctions lists on this machine',
    'datasets verify': 'Check every byte of a list and search it for names that it holds',
    'datasets rollback': 'Put an earlier version of a list back into service',
    'datasets rebuild': 'After an upgrade: rebuild the indexes that an older engine built',
    'datasets remove': 'Take a list out of service and delete all its versions',
  }),
  ...group('service', async () => (await import('./commands/screen.ts')).screenCommands, {
    screen: 'Compare a CSV of people with a sanctions list',
  }),
  ...group('service', async () => (await import('./commands/runs.ts')).runCommands, {
    'runs list': 'Show the screening runs that the service keeps, newest first',
    'runs show': 'Show one run: list, version, rows, hits, and when it will be deleted',
    'runs delete': 'Delete a run and its hits at once',
    'runs compare': 'Show what is new, gone and changed between two runs',
  }),
  ...group('service', async () => (await import('./commands/exceptions.ts')).exceptionCommands, {
    'exceptions add': 'Record that a person is not a listed entry, until a given day',
    'exceptions list': 'Show the exceptions of the key’s tenant, newest first',
    'exceptions remove': 'End an exception: the entry matches again',
  }),
  ...group('service', async () => (await import('./commands/listen.ts')).listenCommands, {
    listen: 'Show events as they happen, and forward them to a receiver on this machine',
  }),
  ...group('service', async () => (await import('./commands/simulate.ts')).simulateCommands, {
    simulate: 'Play the device of a session, honestly or not',
  }),
  ...group('machine', async () => (await import('./commands/risk.ts')).riskCommands, {
    'risk explain': 'Show what risk flags weigh, and the score, level and recommendation they make together',
    'risk list': 'Show all risk flags with source, weight and floor',
  }),
]
