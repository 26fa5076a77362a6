import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { renameSync } from 'node:fs'
import type { Picture } from '@ostiary/faces'
import type { Size } from './stage.ts'

/** Chromium plays every .mjpeg at this rate; the file itself has none. */
const MJPEG_FPS = 30

/** Chromium also reads the values of a JPEG (0 to 255) as those of video (16 to 235), so they are written in that range. */
const VIDEO_RANGE = 'scale=out_color_matrix=bt601:out_range=limited,format=yuv420p,setrange=full'

export interface ClipFile {
  write(picture: Picture): Promise<void>
  /** The file exists only once it is complete. */
  end(): Promise<void>
}

/** Starts a clip for Chromium's fake camera: .mjpeg, or .y4m where colours are to be exact. */
export function createClipFile(out: string, { size, fps }: { size: Size; fps: number }): ClipFile {
  const form = out.endsWith('.y4m')
    ? ['-pix_fmt', 'yuv420p', '-f', 'yuv4mpegpipe']
    : ['-vf', `fps=${MJPEG_FPS},${VIDEO_RANGE}`, '-c:v', 'mjpeg', '-pix_fmt', 'yuvj420p', '-q:v', '3', '-f', 'mjpeg']
  const part = `${out}.part`
  const input = [
    '-f',
    'rawvideo',
    '-pix_fmt',
    'rgba',
    '-s',
    `${size.width}x${size.height}`,
    '-framerate',
    String(fps),
    '-i',
    '-',
  ]
  const ffmpeg = spawn('ffmpeg', ['-hide_banner', '-loglevel', 'error', '-y', ...input, ...form, '-threads', '1', part])
  const ended = endOf(ffmpeg, `ffmpeg could not write ${out}`)
  // Writing fails too when ffmpeg ends early; what it said about it is the better message, and comes with `ended`.
  ffmpeg.stdin.on('error', () => {})
  ended.catch(() => {})
  return {
    async write({ data }) {
      if (!ffmpeg.stdin.write(Buffer.from(data.buffer, data.byteOffset, data.byteLength)))
        await Promise.race([once(ffmpeg.stdin, 'drain'), ended])
    },
    async end() {
      ffmpeg.stdin.end()
      await ended
      renameSync(part, out)
    },
  }
}

async function endOf(ffmpeg: ReturnType<typeof spawn>, failure: string): Promise<void> {
  let said = ''
  ffmpeg.stderr?.on('data', (chunk: Buffer) => {
    said += chunk.toString()
  })
  const [code] = await once(ffmpeg, 'close')
  if (code !== 0) throw new Error(`${failure}: ${said.trim() || `it ended with ${code}`}`)
}
