import Type from 'typebox'
import { CONDITION_LIMITS } from './limits.ts'

const { brightness, lux, motion, pixelsMax, frameRate } = CONDITION_LIMITS
const inSteps = ({ max, step }: { max: number; step: number }, description: string) =>
  Type.Integer({ minimum: 0, maximum: max, multipleOf: step, description })
const pixels = (description: string) => Type.Integer({ minimum: 1, maximum: pixelsMax, description })

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
      { additionalProperties: false, description: 'How bright the face and the room are' },
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
        width: pixels('Of the camera’s picture, in pixels'),
        height: pixels('Of the camera’s picture, in pixels'),
        frameRate: Type.Union([inSteps(frameRate, 'Frames a second'), Type.Null()], {
          description: 'Frames a second; null where the browser does not say',
        }),
      },
      { additionalProperties: false, description: 'What the camera gave' },
    ),
  },
  {
    title: 'CaptureConditions',
    additionalProperties: false,
    description:
      'Extension: light, movement and camera during the capture, as the device reports them. Nothing is decided by them',
  },
)
export type CaptureConditions = Type.Static<typeof CaptureConditions>
