import type { JSX } from 'preact'
import type { DocumentSide } from '../documents/document-types.ts'

/** A drawn document of nobody in place of the camera's picture, for the screen catalog. */
export function DrawnDocument({ side }: { side: DocumentSide }): JSX.Element {
  return (
    <svg viewBox="0 0 1080 1440" width="100%" height="100%" preserveAspectRatio="xMidYMid slice" aria-hidden="true">
      <rect width="1080" height="1440" fill="#8a6f52" />
      <path d="M0 240h1080M0 620h1080M0 1060h1080" stroke="#7a6046" stroke-width="6" />
      <g transform="rotate(-2 540 720)">{side === 'page' ? <Page /> : <Card hasPortrait={side === 'front'} />}</g>
    </svg>
  )
}

function Page(): JSX.Element {
  return (
    <>
      <rect x="80" y="400" width="920" height="648" rx="18" fill="#e9e3d3" />
      <Portrait x={130} y={500} />
      <path d="M430 520h300M430 590h460M430 660h220M430 730h330" stroke="#6f7d86" stroke-width="18" />
      <path d="M120 920h840M120 990h840" stroke="#26282b" stroke-width="26" stroke-dasharray="14 7" />
    </>
  )
}

function Card({ hasPortrait }: { hasPortrait: boolean }): JSX.Element {
  return (
    <>
      <rect x="80" y="430" width="920" height="580" rx="36" fill="#cfdcd8" />
      {hasPortrait ? (
        <>
          <Portrait x={130} y={520} />
          <path d="M430 560h360M430 640h420M430 720h260M430 800h300" stroke="#5d6f73" stroke-width="18" />
        </>
      ) : (
        <path d="M130 800h820M130 870h820M130 940h820" stroke="#26282b" stroke-width="24" stroke-dasharray="16 10" />
      )}
    </>
  )
}

function Portrait({ x, y }: { x: number; y: number }): JSX.Element {
  return (
    <g transform={`translate(${x} ${y})`}>
      <rect width="240" height="320" fill="#b9c6cc" />
      <path d="M30 320c6-70 40-100 90-100s84 30 90 100z" fill="#3f7f78" />
      <ellipse cx="120" cy="140" rx="66" ry="84" fill="#d8a47c" />
      <path d="M52 130c0-70 30-100 68-100s70 30 68 100c-10-40-40-52-68-52s-60 14-68 52z" fill="#46322c" />
    </g>
  )
}
