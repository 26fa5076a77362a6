/** Harvests its share of the frames in a thread of its own. */
import { parentPort, workerData } from 'node:worker_threads'
import { loadCuts } from '../drawn-documents/glyphs.ts'
import { joinCells } from './cells.ts'
import { harvestFrame } from './harvest.ts'

const { from, to } = workerData as { from: number; to: number }
const cuts = loadCuts()
parentPort?.postMessage(joinCells(Array.from({ length: to - from }, (_, index) => harvestFrame(from + index, cuts))))
