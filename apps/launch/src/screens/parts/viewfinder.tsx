import type { Movement } from '@ostiary/contract'
import { type Oval, ovalFor } from '@ostiary/faces'
import type { ComponentChildren, JSX } from 'preact'
import { useRef } from 'preact/hooks'

import type { Camera } from '../../camera/camera-types.ts'
import { Face } from './coach.tsx'
import { Preview } from './preview.tsx'
import { cropOf, ovalPath, veilPath } from './viewfinder-shape.ts'

export interface ViewfinderProps {
  camera: Camera | null
  phase: 'load' | 'find' | 'challenge' | 'measure'
  guidance: string
  movement: Movement | null
  /** 0 to 1. */
  progress: number
  label: string
  /** Instead of the camera's picture. */
  preview: ComponentChildren
}

/** The picture size when there is no camera. */
const WITHOUT_CAMERA = { width: 480, height: 640 }

/** The camera's mirrored picture with the oval for the face. The oval comes from the same function as the guidance. */
export function Viewfinder({
  camera,
  phase,
  guidance,
  movement,
  progress,
  label,
  preview,
}: ViewfinderProps): JSX.Element {
  // A stopped camera has no size, and the oval must not move.
  const last = useRef(WITHOUT_CAMERA)
  if (camera && camera.width > 0) last.current = { width: camera.width, height: camera.height }
  const { width, height } = last.current
  const crop = cropOf(width, height)
  const oval = ovalFor(width, height)
  const stroke = crop.width * 0.016
  const ring = { ...oval, rx: oval.rx + stroke, ry: oval.ry + stroke }
  return (
    <div class="viewfinder" data-guidance={guidance} data-dim={phase === 'measure' ? '' : undefined}>
      {camera?.stream ? (
        <Preview stream={camera.stream} label={label} />
      ) : (
        <div class="viewfinder__figure">{preview}</div>
      )}
      <svg viewBox={`${crop.x} ${crop.y} ${crop.width} ${crop.height}`} stroke-width={stroke} aria-hidden="true">
        <path class="viewfinder__veil" d={veilPath(crop, oval)} fill-rule="evenodd" stroke="none" />
        <path class="viewfinder__edge" d={ovalPath(ring)} stroke-width={stroke * 1.5} />
        <path class="viewfinder__track" d={ovalPath(ring)} />
        {phase === 'find' && <path class="viewfinder__ring viewfinder__ring--find" d={ovalPath(ring)} />}
        {(phase === 'load' || phase === 'measure') && (
          <path
            class="viewfinder__ring viewfinder__ring--wait"
            d={ovalPath(ring)}
            pathLength={100}
            stroke-dasharray="22 78"
          />
        )}
        {phase === 'challenge' && (
          <path
            class="viewfinder__ring"
            d={ovalPath(ring)}
            pathLength={100}
            stroke-dasharray={`${progress * 100} 200`}
          />
        )}
        {phase === 'measure' && <Calm oval={oval} />}
        {movement && <Arrow movement={movement} oval={ring} />}
      </svg>
    </div>
  )
}

/** The camera is off already: a drawn face takes the place of its picture. */
function Calm({ oval }: { oval: Oval }): JSX.Element {
  const scale = oval.ry / 48
  return (
    <g
      class="viewfinder__calm"
      transform={`translate(${oval.x - 30 * scale} ${oval.y - 38 * scale}) scale(${scale})`}
      stroke-width="1.5"
    >
      <Face />
    </g>
  )
}

/** An arrow at the edge of the oval, on the side that the head should turn to. In a mirror, the user's left is on the left. */
function Arrow({ movement, oval }: { movement: Movement; oval: Oval }): JSX.Element | null {
  const direction = DIRECTIONS[movement]
  if (!direction) return null
  const { x, y, turn } = direction
  const size = oval.rx * 0.2
  return (
    <g transform={`translate(${oval.x + x * oval.rx} ${oval.y + y * oval.ry}) rotate(${turn}) scale(${size})`}>
      <g class="viewfinder__arrow">
        <circle r="1" stroke="none" />
        <path d="M.42 0h-.84M-.1 -.34L-.44 0l.34 .34" stroke-width=".16" />
      </g>
    </g>
  )
}

const DIRECTIONS: Readonly<Partial<Record<Movement, { x: number; y: number; turn: number }>>> = {
  turn_left: { x: -1, y: 0, turn: 0 },
  turn_right: { x: 1, y: 0, turn: 180 },
  look_up: { x: 0, y: -1, turn: 90 },
}
