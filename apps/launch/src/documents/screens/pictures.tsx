import type { JSX } from 'preact'
import type { DocumentChoice } from '../document-types.ts'

/** A small picture of a document: where its portrait is, and its lines or its barcode. */
export function CardIcon({ choice }: { choice: DocumentChoice }): JSX.Element {
  return (
    <svg class="card-icon" viewBox="0 0 48 36" aria-hidden="true">
      {choice === 'passport' ? <Passport /> : <Card hasBarcode={choice === 'licence'} />}
    </svg>
  )
}

function Passport(): JSX.Element {
  return (
    <>
      <rect x="5" y="3" width="38" height="30" rx="3" />
      <Portrait x={10} />
      <path d="M26 11h12M26 15h9" />
      <path d="M9 25h30M9 29h30" stroke-dasharray="2 1.4" />
    </>
  )
}

function Card({ hasBarcode }: { hasBarcode: boolean }): JSX.Element {
  return (
    <>
      <rect x="11" y="3" width="34" height="21" rx="3" opacity="0.45" />
      <rect class="card-icon__front" x="3" y="11" width="34" height="22" rx="3" />
      <Portrait x={7} y={15} />
      {hasBarcode ? (
        <path d="M23 17v11M26 17v11M28 17v11M31 17v11M33 17v11" />
      ) : (
        <path d="M22 18h11M22 22h11M22 26h11" stroke-dasharray="2 1.4" />
      )}
    </>
  )
}

function Portrait({ x, y = 9 }: { x: number; y?: number }): JSX.Element {
  return (
    <g transform={`translate(${x} ${y})`}>
      <circle cx="5.5" cy="4" r="2.8" />
      <path d="M.8 12.5c.4-3 2.2-4.4 4.7-4.4s4.3 1.4 4.7 4.4" />
    </g>
  )
}

/** What the user should see in the frame: a faint drawing at the place of the portrait and of the lines. */
export function SideHint({
  side,
  hasBarcode,
  frame,
}: {
  side: 'page' | 'front' | 'back'
  hasBarcode: boolean
  frame: { x: number; y: number; width: number; height: number }
}): JSX.Element {
  const { x, y, width, height } = frame
  const line = (at: number) => `M${x + width * 0.05} ${y + height * at}h${width * 0.9}`
  const hasPortrait = side !== 'back'
  const hasLines = side === 'page' || (side === 'back' && !hasBarcode)
  return (
    <g class="docfinder__hint" stroke-width={width * 0.008}>
      {hasPortrait && (
        <rect
          x={x + width * 0.06}
          y={y + height * (side === 'page' ? 0.16 : 0.22)}
          width={width * 0.26}
          height={height * (side === 'page' ? 0.5 : 0.6)}
          rx={width * 0.02}
        />
      )}
      {hasLines && (
        <path
          d={(side === 'page' ? [0.84, 0.92] : [0.7, 0.8, 0.9]).map(line).join('')}
          stroke-dasharray={`${width * 0.016} ${width * 0.0076}`}
        />
      )}
      {side === 'back' && hasBarcode && (
        <rect
          x={x + width * 0.06}
          y={y + height * 0.14}
          width={width * 0.88}
          height={height * 0.34}
          rx={width * 0.01}
        />
      )}
    </g>
  )
}
