import Type from 'typebox'

/** Two digits. The user reads them on the first screen and types them on the other device. */
export const HandoffNumber = Type.String({ pattern: '^[0-9]{2}$' })

export const Handoff = Type.Object(
  {
    code: Type.String(),
    url: Type.String(),
    expiresAt: Type.String({ format: 'date-time' }),
    number: Type.Optional(
      Type.String({
        pattern: '^[0-9]{2}$',
        description: 'To be shown beside the code. Absent in sessions that the last release has created',
      }),
    ),
  },
  { title: 'LaunchHandoff' },
)
export type Handoff = Type.Static<typeof Handoff>
