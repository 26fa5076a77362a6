/** The worker of one token or probe. The page ends it after the answer: what it computed with goes with it, as far as a browser does that. */
import { createProbe, createToken } from '@ostiary/token'
import { type EnrolJob, makeMessage, type ProbeJob } from './make-message.ts'
import type { WorkerAnswer } from './run-worker.ts'

addEventListener('message', ({ data }: MessageEvent<EnrolJob | ProbeJob>) => {
  makeMessage(data, { createToken, createProbe }).then(
    (message) => answer({ message }),
    // Without the error's text: nobody outside needs to know what it was about.
    () => answer({ message: null }),
  )
})

function answer(content: WorkerAnswer): void {
  postMessage(content)
}
