export { systemClock } from './clock.ts'
export { type Capture, createDevice, type Device, type DeviceOptions, type SavedDevice } from './device.ts'
export type { DeviceClock } from './event-log.ts'
export { DeviceError } from './signed-calls.ts'
