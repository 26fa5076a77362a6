/**
 * The parts of a browser that this module uses, declared here so that it also compiles without the DOM types. A real `Window`
 * and a real element satisfy them.
 */
export interface HostWindow {
  location: { assign(url: string): void }
  document: { createElement(tag: 'iframe'): FrameElement; body: FrameParent }
  open(url: string, target: string, features: string): PopupWindow | null
  addEventListener(type: 'message', listener: (message: WindowMessage) => void): void
  removeEventListener(type: 'message', listener: (message: WindowMessage) => void): void
  setInterval(work: () => void, everyMs: number): unknown
  clearInterval(timer: unknown): void
}

export interface FrameParent {
  /** As of any element of a page. */
  append(frame: unknown): void
}

export interface FrameElement {
  src: string
  title: string
  allow: string
  className: string
  style: { border: string; width: string; height: string }
  contentWindow: unknown
  remove(): void
}

export interface PopupWindow {
  closed: boolean
  close(): void
}

export interface WindowMessage {
  origin: string
  source: unknown
  data: unknown
}
