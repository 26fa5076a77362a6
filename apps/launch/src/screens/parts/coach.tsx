import type { Movement } from '@ostiary/contract'
import type { JSX } from 'preact'

/** A head that shows the movement, mirrored. With reduced motion it stands still in the final position. */
export function Coach({ movement }: { movement: Movement | 'rest' }): JSX.Element {
  return (
    <svg class={`coach coach--${movement}`} viewBox="0 0 60 76" stroke-width="2.5" aria-hidden="true">
      <g class="coach__all">
        <ellipse class="coach__head" cx="30" cy="38" rx="25.5" ry="33" />
        <Face />
      </g>
    </svg>
  )
}

/** Eyes, nose and mouth in a box of 60 by 76. */
export function Face(): JSX.Element {
  return (
    <g class="coach__face">
      <g class="coach__eyes">
        <ellipse cx="20.5" cy="33" rx="2.6" ry="3.6" />
        <ellipse cx="39.5" cy="33" rx="2.6" ry="3.6" />
      </g>
      <path d="M30 36v7.5" />
      <path d="M22.5 52c4 3.6 11 3.6 15 0" />
    </g>
  )
}
