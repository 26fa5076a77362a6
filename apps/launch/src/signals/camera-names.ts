/**
 * Judges a camera by its name. The name is all that a page learns about a camera. It can be chosen freely, and it never leaves
 * the device.
 */

/** Known software that replaces a camera's pictures or adds effects to them. */
export function isVirtualCamera(label: string): boolean {
  return VIRTUAL_CAMERAS.test(label)
}

/** A phone used as a webcam: a real camera behind software. */
export function isPhoneCamera(label: string): boolean {
  return PHONE_CAMERAS.test(label)
}

/** Not a known name, but one that no camera maker uses. */
export function looksVirtual(label: string): boolean {
  return VIRTUAL_WORDS.test(label) || FILE_PATH.test(label)
}

const VIRTUAL_CAMERAS = new RegExp(
  [
    String.raw`\bobs\b`,
    'manycam',
    'snap ?camera',
    'xsplit',
    'splitcam',
    'streamlabs',
    'youcam',
    'camtwist',
    String.raw`\bmmhmm\b`,
    'webcamoid',
    'akvirtualcamera',
    'altercam',
    'sparkocam',
    'webcammax',
    'e2esoft',
    String.raw`\bvcam\b`,
    'v4l2loopback',
    'dummy video device',
    'unity video capture',
    'facerig',
    'animaze',
    'vtube ?studio',
    'avatarify',
    'deepfacelive',
    'chromacam',
    'nvidia broadcast',
    String.raw`\bndi\b`,
    String.raw`\bvmix\b`,
    'wirecast',
    'ecamm',
    'prism live',
    'logi capture',
  ].join('|'),
  'i',
)

/** Names of phones. On the phone itself no camera has such a name. */
const PHONE_CAMERAS =
  /\b(?:iphone|ipad)\b|continuity|droidcam|\biriun\b|\bivcam\b|epoccam|\bcamo\b|desk view|android webcam/i

const VIRTUAL_WORDS = /virtual|fake|dummy|loopback|synthetic|emulat|simulat|test pattern|screen ?capture|screen ?cast/i

/** Chromium names a fake camera that plays a file after that file. */
const FILE_PATH = /^(?:\/|[a-z]:\\)|\.(?:mjpe?g|y4m|mp4|webm|avi|mkv)$/i
