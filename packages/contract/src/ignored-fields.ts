import Type from 'typebox'

/** Fields that clients of other systems of this kind send when they create a session. Nothing here depends on them. */
export const IGNORED_FIELDS = ['livenessEnabled', 'enableSwitchDevice', 'sendEventWebhooks'] as const

const ignored = (why: string) =>
  Type.Optional(Type.Unknown({ deprecated: true, description: `Taken and ignored: ${why}` }))

/** Each is answered with the warning `ignored-field: NAME` in `X-Config-Warning`. Any other unknown field is refused. */
export const ignoredFields = {
  livenessEnabled: ignored('liveness is always checked'),
  enableSwitchDevice: ignored('a flow can always move to another device, unless the tenant forbids it'),
  sendEventWebhooks: ignored('a webhook is sent when the session ends'),
} satisfies Record<(typeof IGNORED_FIELDS)[number], unknown>
