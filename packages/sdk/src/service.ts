import type { Descriptor, Health, LanguageList } from '@ostiary/contract'
import type { CallOptions, Send } from './http.ts'

/** What belongs to no area. */
export function createServiceClient(send: Send) {
  return {
    /** What the service offers: its areas, endpoints and version. */
    describe: (options: CallOptions = {}): Promise<Descriptor> =>
      send({ ...options, operation: 'describeService', method: 'GET', path: '/' }),
    /** Resolves for a degraded service too: look at `status`. */
    health: (options: CallOptions = {}): Promise<Health> =>
      send({ ...options, operation: 'getHealth', method: 'GET', path: '/health', alsoOk: [503] }),
    /** The languages of the page, and those whose texts are there. */
    locales: (options: CallOptions = {}): Promise<LanguageList> =>
      send({ ...options, operation: 'listLocales', method: 'GET', path: '/v2/locales' }),
  }
}
