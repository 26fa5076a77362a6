import { withServices } from '@ostiary/server/operate'

/** Through the services, which takes less time than the command line. Without a limit on files per minute. */
export function createScreeningKey(settings: Record<string, string>): Promise<string> {
  return withServices(settings, async ({ keys, migrate }) => {
    await migrate(() => {})
    const { tenantId } = await keys.createTenant('Bench')
    const scopes = { scopes: ['sanctions:run'], allowedIps: [], usagePlanId: 'unmetered' } as const
    return (await keys.createKey(tenantId, { livemode: true, name: 'bench', ...scopes })).api_key
  })
}

interface FileCall {
  url: string
  dataset: string
  key: string
  csv: string
  query?: string
}

export function postFile({ url, dataset, key, csv, query = '' }: FileCall): Promise<Response> {
  const body = new FormData()
  body.set('file', new File([csv], 'customers.csv', { type: 'text/csv' }))
  return fetch(`${url}/v2/open-sanctions/file/${dataset}${query}`, {
    method: 'POST',
    headers: { 'x-api-key': key },
    body,
  })
}
