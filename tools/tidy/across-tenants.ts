const PURGE = 'a worker job: what is past its time goes, of every tenant'
const RESEAL = 'the operator’s reseal: every row that another master key has sealed'
const COUNT = 'counts for the operator, no rows'
const OPERATOR = 'the operator’s command line works on all tenants'
const BY_HASH = 'finds the tenant: looked up by the hash of a secret that the caller has'
const BY_SESSION =
  'finds the tenant: the session id is the capability of the launch page; hosts’ calls compare the tenant after it'
const DISPATCH = 'the worker that sends webhooks serves all tenants in turn'

/** Statements that serve all tenants at once, each with its reason. An unnamed one stands by the path of its file. */
export const ACROSS_TENANTS: Readonly<Record<string, string>> = {
  'clients.find_facts': 'finds the tenant: looked up by the client id, whose secret is then compared',
  'clients.purge_assertions': PURGE,
  'clients.revoke': OPERATOR,
  'exceptions.purge': PURGE,
  'failure_limits.purge': PURGE,
  'faces.count_by_master_key': COUNT,
  'faces.lock_sealed_with_other': RESEAL,
  'faces.purge_envelopes': PURGE,
  'faces.purge_hits': PURGE,
  'documents.purge': PURGE,
  'hosts.list': 'finds the tenant: every process knows all bound host names',
  'idempotency.purge': PURGE,
  'keys.count_by_master_key': COUNT,
  'keys.end': OPERATOR,
  'keys.find_facts': BY_HASH,
  'keys.list_tenants': OPERATOR,
  'keys.lock': OPERATOR,
  'keys.lock_sealed_with_other': RESEAL,
  'keys.reseal': RESEAL,
  'keys.revoke': OPERATOR,
  'sessions.backlog': COUNT,
  'sessions.count_by_master_key': COUNT,
  'sessions.find': BY_SESSION,
  'sessions.find_owner': BY_SESSION,
  'sessions.find_state': BY_SESSION,
  'sessions.lock': BY_SESSION,
  'sessions.lock_due': 'a worker job: sessions of every tenant expire',
  'sessions.lock_tag_keys_sealed_with_other': RESEAL,
  'sessions.mark_purged': PURGE,
  'sessions.purge': PURGE,
  'sessions.walk_sealed': RESEAL,
  'apps/server/src/sessions/purge-store.ts': 'a worker job: whether a day’s partition is empty and can be dropped',
  'strings.purge': PURGE,
  'verification.find_discardable': 'a worker job: persons of every tenant whose ENROLL failed',
  'verification.purge_confirmations': PURGE,
  'verification.purge_local_keys': PURGE,
  'verification.purge_lockouts': PURGE,
  'webhooks.claim': DISPATCH,
  'webhooks.close_breakers': DISPATCH,
  'webhooks.count_by_master_key': COUNT,
  'webhooks.count_keys_by_master_key': COUNT,
  'webhooks.erase_ended_keys': PURGE,
  'webhooks.lock_breakers': DISPATCH,
  'webhooks.lock_keys_sealed_with_other': RESEAL,
  'webhooks.lock_old': PURGE,
  'webhooks.probe': DISPATCH,
  'webhooks.purge_breakers': PURGE,
  'webhooks.save_breakers': DISPATCH,
  'webhooks.state': COUNT,
}
