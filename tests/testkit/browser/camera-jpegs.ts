import { spawn } from 'node:child_process'
import { readFileSync } from 'node:fs'

/** As often as the puppet changes. */
const FPS = 15
const HEADER = /^YUV4MPEG2 W(\d+) H(\d+) [^\n]*\nFRAME\n/
/** How every JPEG begins and ends. These bytes are nowhere else in it, because it has no thumbnail. */
const [BEGIN, END] = [Buffer.from([0xff, 0xd8]), Buffer.from([0xff, 0xd9])]

/**
 * Plays the one frame of a live camera's file, again and again as it changes, as JPEGs: a tenth of the bytes, for browsers that get their
 * pictures over a wire. A picture that comes while the one before is still on its way replaces the one that waits.
 */
export function playAsJpeg(file: string, show: (jpeg: Buffer) => Promise<unknown>): { stop(): void } {
  const [header = '', width, height] = HEADER.exec(readFileSync(file).toString('latin1', 0, 200)) ?? []
  if (!header) throw new Error(`${file} is no camera of one frame`)
  const raw = ['-f', 'rawvideo', '-pix_fmt', 'yuv420p', '-s', `${width}x${height}`, '-i', 'pipe:0']
  const quick = ['-probesize', '32', '-analyzeduration', '0', '-fflags', 'nobuffer', '-threads', '1']
  const jpegs = ['-fps_mode', 'passthrough', '-c:v', 'mjpeg', '-threads', '1', '-q:v', '2', '-flush_packets', '1']
  const ffmpeg = spawn('ffmpeg', ['-v', 'error', ...quick, ...raw, ...jpegs, '-f', 'image2pipe', 'pipe:1'], {
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  // After `stop` the pipe may break.
  ffmpeg.stdin.on('error', () => {})
  const clock = setInterval(() => {
    // One that falls behind gets no more to do: late pictures are worse than few.
    if (ffmpeg.stdin.writableLength === 0) ffmpeg.stdin.write(readFileSync(file).subarray(header.length))
  }, 1000 / FPS)
  let next: Buffer | undefined
  let isShowing = false
  const showNext = async () => {
    if (isShowing) return
    isShowing = true
    for (let jpeg = next; jpeg; jpeg = next) {
      next = undefined
      // A page that is just left shows nothing.
      await show(jpeg).catch(() => {})
    }
    isShowing = false
  }
  let read = Buffer.alloc(0)
  ffmpeg.stdout.on('data', (bytes: Buffer) => {
    read = Buffer.concat([read, bytes])
    for (let end = read.indexOf(END); end >= 0; end = read.indexOf(END)) {
      next = read.subarray(read.indexOf(BEGIN), end + END.length)
      read = read.subarray(end + END.length)
    }
    void showNext()
  })
  return {
    stop() {
      clearInterval(clock)
      next = undefined
      ffmpeg.kill('SIGKILL')
    },
  }
}
