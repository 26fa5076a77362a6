/** The images of others that a release is built on and runs beside: deploy/Dockerfile and compose.yaml name each once. */

export interface BaseImage {
  /** The build argument or variable that names it. */
  argument: string
  /** Where its default stands. */
  file: string
  reference: string
}

export interface DeployFiles {
  dockerfile: string
  compose: string
}

/** Throws if an image is written anywhere but in its one argument. */
export function listBaseImages({ dockerfile, compose }: DeployFiles): BaseImage[] {
  const stages = [...dockerfile.matchAll(/^FROM\s+(\S+)/gm)].map(([, image = '']) => image)
  const args = [...dockerfile.matchAll(/^ARG\s+(\w+_IMAGE)=(\S+)$/gm)]
  for (const stage of stages)
    if (!args.some(([, name]) => stage === `\${${name}}`))
      throw new Error(`deploy/Dockerfile: FROM ${stage} names no argument`)
  const services = [...compose.matchAll(/^\s+image:\s*(\S+)$/gm)].flatMap(([, image = '']) =>
    image === OURS ? [] : image,
  )
  return [
    ...args.map(([, argument = '', reference = '']) => ({ argument, file: 'deploy/Dockerfile', reference })),
    ...services.map((image) => {
      const [, argument, reference] = /^\$\{(\w+_IMAGE):-([^}]+)\}$/.exec(image) ?? []
      if (!argument || !reference) throw new Error(`compose.yaml: the image ${image} is no variable with a default`)
      return { argument, file: 'compose.yaml', reference }
    }),
  ]
}

/** Built from this checkout. */
const OURS = 'ostiary'

/** A tag can be moved to other bytes; a digest cannot. */
export function isPinned(reference: string): boolean {
  const [, digest] = /^[a-z0-9][^\s@]*@sha256:([0-9a-f]{64})$/.exec(reference) ?? []
  // A filler such as 000…0 is no digest of anything.
  return digest !== undefined && new Set(digest).size > 4
}

/** One sentence for each image without a digest. */
export function unpinnedImages(images: readonly BaseImage[]): string[] {
  return images
    .filter(({ reference }) => !isPinned(reference))
    .map(
      ({ argument, file, reference }) =>
        `${file}: ${argument} is ${reference}, without a digest. Ask the registry: docker buildx imagetools inspect ${reference.split('@')[0]}`,
    )
}
