import { isPhoneCamera, isVirtualCamera, looksVirtual } from './camera-names.ts'
import type { Facts } from './environment.ts'

/**
 * Signs that the pictures do not come from a camera: the four of `virtualCamera`. They judge only
 * the camera in use. Other installed software does not count: a person who streams may use a real camera now.
 */

export function virtualCameraSoftware({ camera }: Facts): boolean | undefined {
  return camera?.label ? isVirtualCamera(camera.label) && !isPhoneCamera(camera.label) : undefined
}

/** Known software raises only the signal above, so that one fact does not count twice. */
export function suspiciousLabels({ camera }: Facts): boolean | undefined {
  if (!camera?.label) return undefined
  return isPhoneCamera(camera.label) || (looksVirtual(camera.label) && !isVirtualCamera(camera.label))
}

/** Some browsers list no camera before the user grants one. */
export function noMediaDevices({ camera, answers }: Facts): boolean | undefined {
  if (camera === undefined || answers.cameras === undefined || answers.cameras.failed) return undefined
  return answers.cameras.count === 0
}

export function mediaDevicesError({ answers }: Facts): boolean | undefined {
  return answers.cameras?.failed
}
