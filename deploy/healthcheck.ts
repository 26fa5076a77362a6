/**
 * The image's health check: is this container's process ready for work? The image has no curl.
 * A container runs the API, the worker or the key holder, so whichever admin port answers is the right one. compose.yaml names the key
 * holder's in `ADMIN_PORT`.
 */
const { ADMIN_HOST, ADMIN_PORT, WORKER_ADMIN_PORT } = process.env
const everywhere = ['', '0.0.0.0', '::']
const host = everywhere.includes(ADMIN_HOST ?? '') ? '127.0.0.1' : ADMIN_HOST

async function ask(port: string): Promise<string> {
  const response = await fetch(`http://${host}:${port}/readyz`, { signal: AbortSignal.timeout(4_000) }).catch(
    (error) => {
      throw new Error(`port ${port}: ${error.cause?.code ?? error.message}`)
    },
  )
  const answer = `port ${port} answers ${response.status} ${await response.text()}`
  if (!response.ok) throw new Error(answer)
  return answer
}

try {
  console.log(await Promise.any([ask(ADMIN_PORT || '9400'), ask(WORKER_ADMIN_PORT || '9401')]))
} catch (error) {
  // Docker keeps this line: docker inspect --format '{{json .State.Health}}' <container>
  console.log((error as AggregateError).errors.map((each: Error) => each.message).join('; '))
  process.exitCode = 1
}
