import { type ModelRecord, withServices } from '@ostiary/server/operate'
import { answer, argument, type Command, decimal, number, UsageError } from '../command.ts'
import { table } from '../terminal.ts'
import { tenantOf } from './tenants.ts'

const TENANT = { tenant: { type: 'string' } } as const

export const nodeModelCommands: readonly Command[] = [
  {
    name: 'node models declare',
    usage: `ostiary node models declare <name> --tenant <id or name> --length <128-512> --threshold <cosine> --slope <log-odds>
    [--near <cosine>] [--consistent <cosine>] [--replay <cosine>] [--json]

  <name>        letters, digits and underscores, at most 32; not FACE3_…
  --length      how many entries a vector of this model has
  --threshold   from this cosine on it is the same person: 0.01 to 0.999
  --slope       how fast the score rises: log-odds per unit of cosine, 1 to 10000
  --near        from this cosine on a prediction counts against the budget of a person; default: where the score is 0.2
  --consistent  below this cosine vectors of one enrolment are not of one person; default: where the score is 0.25
  --replay      from this cosine on it is the enrolled vector itself; default 0.9999

  For live and test data of this tenant. A declared model never changes: docs/api/biometrics.md says how to measure it.
  Do this when every API process runs this release: older ones answer 400, unknown version.`,
    options: {
      ...TENANT,
      length: { type: 'string' },
      threshold: { type: 'string' },
      slope: { type: 'string' },
      near: { type: 'string' },
      consistent: { type: 'string' },
      replay: { type: 'string' },
    },
    run: (invocation) => {
      const declaration = {
        name: argument(invocation, 'new model'),
        length: required('length', number(invocation, 'length')),
        threshold: required('threshold', decimal(invocation, 'threshold')),
        slope: required('slope', decimal(invocation, 'slope')),
        near: decimal(invocation, 'near'),
        consistent: decimal(invocation, 'consistent'),
        replay: decimal(invocation, 'replay'),
      }
      return withServices(invocation.env, async (services) => {
        const { model, isNew } = await services.nodeModels.declare(await tenantOf(invocation, services), declaration)
        if (invocation.options.json) invocation.terminal.out(JSON.stringify(model))
        else {
          invocation.terminal.out(table(HEAD, [rowOf(model)]))
          invocation.terminal.err(
            isNew ? 'Served in all processes within 5 seconds.' : 'Nothing to do: it is declared with these values.',
          )
        }
        return 0
      })
    },
  },
  {
    name: 'node models list',
    usage: 'ostiary node models list --tenant <id or name> [--json]',
    options: TENANT,
    run: (invocation) =>
      withServices(invocation.env, async (services) => {
        const models = await services.nodeModels.list(await tenantOf(invocation, services))
        return answer(
          invocation,
          models,
          models.length === 0 ? 'No model is declared.' : table(HEAD, models.map(rowOf)),
        )
      }),
  },
  {
    name: 'node models remove',
    usage: `ostiary node models remove <name> --tenant <id or name> [--json]

  Refused while anybody is enrolled in it, live or test.`,
    options: TENANT,
    run: (invocation) => {
      const name = argument(invocation, 'model')
      return withServices(invocation.env, async (services) => {
        await services.nodeModels.remove(await tenantOf(invocation, services), name)
        return answer(
          invocation,
          { name, removed: true },
          `${name} is removed; unknown in all processes within 5 seconds`,
        )
      })
    },
  },
]

const HEAD = ['MODEL', 'LENGTH', 'THRESHOLD', 'SLOPE', 'NEAR', 'CONSISTENT', 'REPLAY', 'DECLARED']

function rowOf(model: ModelRecord): string[] {
  const { length, threshold, slope, near, consistent, replay } = model
  return [model.name, ...[length, threshold, slope, near, consistent, replay].map(String), model.when_created]
}

function required(name: string, value: number | undefined): number {
  if (value === undefined) throw new UsageError(`--${name} is required`)
  return value
}
