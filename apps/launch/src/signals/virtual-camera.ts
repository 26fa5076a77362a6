import { isPhoneCamera, isVirtualCamera, looksVirtual } from './camera-names.ts'
import type { Facts } from './environment.ts'

/**
 * Signs that the pictures do not come from a camera: the four of `virtualCamera`. They are about the camera in use. What else
 * is installed is nobody's business: who streams in the evening may use a real camera now.
 */

export function virtualCameraSoftware({ camera }: Facts): boolean | undefined {
  return camera?.label ? isVirtualCamera(camera.label) && !isPhoneCamera(camera.label) : undefined
}

/** Software that is known is told by the signal above alone, so that one fact does not count twice. */
export function suspiciousLabels({ camera }: Facts): boolean | undefined {
  if (!camera?.label) return undefined
  return isPhoneCamera(camera.label) || (looksVirtual(camera.label) && !isVirtualCamera(camera.label))
}

/** Before the user granted a camera some browsers list none. */
export function noMediaDevices({ camera, answers }: Facts): boolean | undefined {
  if (camera === undefined || answers.cameras === undefined || answers.cameras.failed) return undefined
  return answers.cameras.count === 0
}

export function mediaDevicesError({ answers }: Facts): boolean | undefined {
  return answers.cameras?.failed
}
