import * as kit from '@ostiary/service-kit/shutdown'
import { flushLogOutput } from './log-output.ts'

export const handleSignals = (options: kit.SignalOptions = {}): kit.Shutdown =>
  kit.handleSignals({ ...options, flush: () => flushLogOutput(500) })
