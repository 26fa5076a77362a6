/**
 * What the name of a camera says about it. Names are the only thing a page gets to know of a camera, they can be chosen
 * freely, and they never leave the device.
 */

/** Software that is known to put pictures of its own in a camera's place, or effects over a real one's. */
export function isVirtualCamera(label: string): boolean {
  return VIRTUAL_CAMERAS.test(label)
}

/** A phone that serves as a webcam: a real camera, reached through software. */
export function isPhoneCamera(label: string): boolean {
  return PHONE_CAMERAS.test(label)
}

/** Not known by name, but named as no camera maker names one. */
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

/** On a phone itself no camera is named after the phone. */
const PHONE_CAMERAS =
  /\b(?:iphone|ipad)\b|continuity|droidcam|\biriun\b|\bivcam\b|epoccam|\bcamo\b|desk view|android webcam/i

const VIRTUAL_WORDS = /virtual|fake|dummy|loopback|synthetic|emulat|simulat|test pattern|screen ?capture|screen ?cast/i

/** Chromium names a camera that plays a file after the file. */
const FILE_PATH = /^(?:\/|[a-z]:\\)|\.(?:mjpe?g|y4m|mp4|webm|avi|mkv)$/i
