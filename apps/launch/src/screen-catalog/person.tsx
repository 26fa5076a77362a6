import type { JSX } from 'preact'

/** A drawn person in place of the camera's picture, for the screen catalog. */
export function DrawnPerson(): JSX.Element {
  return (
    <svg viewBox="0 0 480 640" width="100%" height="100%" preserveAspectRatio="xMidYMid slice" aria-hidden="true">
      <defs>
        <linearGradient id="wall" x1="0" y1="0" x2="1" y2="1">
          <stop offset="0" stop-color="#e3d9c8" />
          <stop offset="1" stop-color="#b9c3bb" />
        </linearGradient>
        <linearGradient id="skin" x1="0.15" y1="0" x2="0.9" y2="1">
          <stop offset="0" stop-color="#e9b793" />
          <stop offset="1" stop-color="#c98a63" />
        </linearGradient>
        <linearGradient id="shirt" x1="0" y1="0" x2="0" y2="1">
          <stop offset="0" stop-color="#3f7f78" />
          <stop offset="1" stop-color="#255852" />
        </linearGradient>
      </defs>
      <Wall />
      <path
        d="M132 250c-16-116 44-178 112-178 72 0 128 58 108 182 10 60 6 112-4 146-4 14-22 20-40 16H172c-18 4-36-2-40-16-10-38-10-90 0-150z"
        fill="#3a2a26"
      />
      <path d="M192 430h96v92c0 30-96 30-96 0z" fill="#bd7f59" />
      <path d="M40 640c4-78 46-116 116-130 22 42 146 42 168 0 70 14 112 52 116 130z" fill="url(#shirt)" />
      <path d="M156 510c26 50 142 50 168 0l14 4c-22 72-174 72-196 0z" fill="#1f4c47" />
      <ellipse cx="138" cy="312" rx="18" ry="34" fill="#d29a73" />
      <ellipse cx="342" cy="312" rx="18" ry="34" fill="#c98e67" />
      <path
        d="M240 132c66 0 104 54 104 150 0 104-52 186-104 186s-104-82-104-186c0-96 38-150 104-150z"
        fill="url(#skin)"
      />
      <path
        d="M134 286c-8-98 36-166 108-166 70 0 114 62 106 164-10-60-34-92-66-112-44 36-118 26-136 36-8 18-12 44-12 78z"
        fill="#46322c"
      />
      <path
        d="M172 268c14-12 36-13 50-4M258 264c14-9 36-8 50 4"
        stroke="#3a2a26"
        stroke-width="8"
        stroke-linecap="round"
        fill="none"
      />
      <EyesNoseAndMouth />
    </svg>
  )
}

function Wall(): JSX.Element {
  return (
    <>
      <rect width="480" height="640" fill="url(#wall)" />
      <rect x="330" y="40" width="190" height="250" rx="10" fill="#f6efdf" opacity="0.75" />
      <path d="M330 165h190M425 40v250" stroke="#cfc5b0" stroke-width="6" opacity="0.7" />
      <path d="M-20 560c30-90 60-120 70-210 20 70 14 150-6 260z" fill="#6d8f74" opacity="0.8" />
      <path d="M20 600c0-80 40-130 66-190 4 80-14 140-40 210z" fill="#547a5f" opacity="0.8" />
    </>
  )
}

function EyesNoseAndMouth(): JSX.Element {
  return (
    <>
      <g>
        <path d="M172 300c12-16 38-16 50 0-12 13-38 13-50 0z" fill="#fdf6ee" />
        <path d="M258 300c12-16 38-16 50 0-12 13-38 13-50 0z" fill="#fdf6ee" />
        <circle cx="197" cy="299" r="10" fill="#4b3527" />
        <circle cx="283" cy="299" r="10" fill="#4b3527" />
        <circle cx="200" cy="296" r="3" fill="#fff" />
        <circle cx="286" cy="296" r="3" fill="#fff" />
        <path
          d="M170 299c13-18 41-18 54-1M256 298c13-17 41-17 54 1"
          stroke="#3a2a26"
          stroke-width="4.5"
          stroke-linecap="round"
          fill="none"
        />
      </g>
      <path
        d="M236 306c-4 26-14 42-12 52 4 10 26 10 32 2"
        stroke="#a96a48"
        stroke-width="5"
        stroke-linecap="round"
        fill="none"
      />
      <path d="M196 398c26 22 62 22 88 0-8 34-80 34-88 0z" fill="#a9503f" />
      <path d="M196 398c26 10 62 10 88 0" stroke="#87392c" stroke-width="4" stroke-linecap="round" fill="none" />
      <ellipse cx="176" cy="350" rx="22" ry="14" fill="#d9825f" opacity="0.35" />
      <ellipse cx="304" cy="350" rx="22" ry="14" fill="#d9825f" opacity="0.3" />
    </>
  )
}
