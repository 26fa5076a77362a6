/** Runs the trials that it is sent, one at a time. */
import { parentPort } from 'node:worker_threads'
import { runTrial, type Trial } from './trial.ts'

parentPort?.on('message', (trial: Trial) => parentPort?.postMessage(runTrial(trial)))
