import { all, remove, set } from './testing/marks.ts'
import { type SignalCase, signalTable } from './testing/table.ts'

const MAC = 'Chrome on a Mac'
const named = (mark: '1' | '0' | '-', ...labels: readonly string[]): SignalCase[] =>
  labels.map((label) => [label || 'a camera without a name', MAC, mark, undefined, { label }])
const devices = (answer: () => Promise<unknown>) =>
  set('navigator.mediaDevices.enumerateDevices', answer.bind(undefined))

const REAL = [
  'FaceTime HD Camera (Built-in) (05ac:8514)',
  'Studio Display Camera',
  'Integrated Camera (04f2:b6d9)',
  'HD Pro Webcam C920 (046d:082d)',
  'Logitech BRIO',
  'camera2 1, facing front',
  'Front Camera',
  'Frontkamera',
  'Surface Camera Front',
  'Cam Link 4K',
  'Lobster Vision 4K',
]
const PHONES = [
  'Someone’s iPhone Camera',
  'iPhone Desk View Camera',
  'DroidCam Source 3',
  'Iriun Webcam',
  'Reincubate Camo',
  'Android Webcam',
  'e2eSoft iVCam',
]
const SOFTWARE = [
  'OBS Virtual Camera',
  'OBS-Camera2',
  'ManyCam Virtual Webcam',
  'Snap Camera',
  'XSplit VCam',
  'mmhmm Camera',
  'Dummy video device (0x0000)',
  'Unity Video Capture',
  'Camera (NVIDIA Broadcast)',
  'NDI Webcam Video 1',
]
const ODD = [
  'fake_device_0',
  'Some Virtual Webcam',
  'Emulated Camera',
  'Loopback 1',
  '/home/someone/clips/face.mjpeg',
  'C:\\clips\\face.y4m',
]

signalTable('virtualCamera.virtualCameraSoftware', [
  ...named('1', ...SOFTWARE),
  ...named('0', ...REAL, ...PHONES, ...ODD),
  ...named('-', ''),
  ['before a camera is granted', MAC, '-', undefined, null],
])

signalTable('virtualCamera.suspiciousLabels', [
  ...named('1', ...ODD, ...PHONES),
  ...named('0', ...REAL, ...SOFTWARE),
  ...named('-', ''),
  ['before a camera is granted', MAC, '-', undefined, null],
])

signalTable('virtualCamera.noMediaDevices', [
  ['a camera that is not in the list', MAC, '1', devices(async () => [{ kind: 'audioinput' }])],
  ['an empty list', 'Safari on an iPhone', '1', devices(async () => [])],
  ['a camera in the list', MAC, '0'],
  ['an empty list before a camera is granted', MAC, '-', devices(async () => []), null],
  ['no list to be had', MAC, '-', remove('navigator.mediaDevices')],
  ['a list that fails', MAC, '-', devices(async () => Promise.reject(new Error('NotReadableError')))],
])

signalTable('virtualCamera.mediaDevicesError', [
  ['a list that fails', 'Chrome on Android', '1', devices(async () => Promise.reject(new Error('NotReadableError')))],
  ['a result that is not a list', MAC, '1', devices(async () => undefined)],
  ['a list', MAC, '0'],
  ['a list before a camera is granted', MAC, '0', undefined, null],
  ['a list that never comes', MAC, '-', devices(() => new Promise(() => {}))],
  ['a page that is not secure', MAC, '-', all(remove('navigator.mediaDevices'), set('isSecureContext', false))],
])
