import type { JSX } from 'preact'
import { useEffect, useRef } from 'preact/hooks'

/** The live picture of a camera. */
export function Preview({ stream, label }: { stream: MediaStream; label: string }): JSX.Element {
  const element = useRef<HTMLVideoElement>(null)
  useEffect(() => {
    if (element.current) element.current.srcObject = stream
  }, [stream])
  // A live picture without sound needs no captions.
  return <video ref={element} aria-label={label} autoplay muted playsInline />
}
