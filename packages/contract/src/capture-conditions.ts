import Type from 'typebox'
import { CONDITION_LIMITS } from './limits.ts'

const { brightness, lux, motion, pixelsMax, frameRate } = CONDITION_LIMITS
const inSteps = ({ max, step }: { max: number; step: number }, description: string) =>
  Type.Integer({ minimum: 0, maximum: max, multipleOf: step, description })
const pixels = Type.Integer({ minimum: 1, maximum: pixelsMax })

/** Light, movement and camera during a capture, as the device reports them. Coarse steps but for the size of the picture, so that they recognise hardly any device. */
export const CaptureConditions = Type.Object(
  {
    light: Type.Object(
      {
        brightness: inSteps(brightness, 'Mean of the face over all frames, from 0 (black) to 255 (white)'),
        lux: Type.Union([inSteps(lux, 'Of the ambient light sensor'), Type.Null()], {
          description: 'null where the browser has no ambient light sensor, or asks before it reads it',
        }),
      },
      { additionalProperties: false },
    ),
    motion: Type.Union(
      [Type.Number({ minimum: 0, maximum: motion.max, multipleOf: motion.step, description: 'In m/s²' }), Type.Null()],
      {
        description:
          'Root mean square of the device’s acceleration without gravity; null where the device has no sensor, or asks before it reads it',
      },
    ),
    camera: Type.Object(
      {
        width: pixels,
        height: pixels,
        frameRate: Type.Union([inSteps(frameRate, 'Frames a second'), Type.Null()]),
      },
      { additionalProperties: false },
    ),
  },
  { title: 'CaptureConditions', additionalProperties: false },
)
export type CaptureConditions = Type.Static<typeof CaptureConditions>
