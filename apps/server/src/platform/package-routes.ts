import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { AppError } from './errors.ts'
import { isKnown } from './etag.ts'
import { PACKAGE_NAMES, PACKAGES_FOLDER, type PackageFile, readPackages } from './package-files.ts'
import { named } from './route.ts'

interface Deps {
  version: string
  folder?: string
}

/**
 * The packages that integrators install: `npm install https://ostiary.example/sdk/ostiary-sdk.tgz`. They are read when the process starts. One of
 * another version is not served: it would call operations that this API does not have, or miss those that it has.
 */
export async function packageRoutes(app: FastifyInstance, { version, folder = PACKAGES_FOLDER }: Deps): Promise<void> {
  const packages = await readPackages(folder)
  for (const name of PACKAGE_NAMES) {
    const found = packages.find((one) => one.name === name)
    if (found?.version !== version)
      app.log.warn(`/sdk/${name} is ${found ? 'of another version' : 'missing'}: npm run packages`)
    app.route({
      method: ['GET', 'HEAD'],
      // The framework's own HEAD would build the body to measure it.
      exposeHeadRoute: false,
      url: `/sdk/${name}`,
      onRequest: named('getPackage'),
      handler: (request, reply) => {
        if (found?.version !== version) throw new AppError('not_found', 'NOT_FOUND', missing(name, found))
        return sendPackage(found, request, reply)
      },
    })
  }
}

function missing(name: string, found: PackageFile | undefined): string {
  const what = found
    ? `${name} of this installation is of another version than its API`
    : `This installation has no ${name}`
  return `${what}. Its operator can run in the checkout: npm run packages, and start the API again`
}

function sendPackage({ name, archive, digest }: PackageFile, request: FastifyRequest, reply: FastifyReply) {
  const etag = `"${digest.toString('hex')}"`
  // Its address is the same in every version, so caches must ask whether it changed.
  reply.headers({ etag, 'cache-control': 'public, no-cache', 'x-content-type-options': 'nosniff' })
  if (isKnown(request, etag)) return reply.code(304).send()
  reply.headers({
    'content-type': 'application/gzip',
    'content-length': archive.length,
    'content-disposition': `attachment; filename="${name}"`,
    'content-digest': `sha-256=:${digest.toString('base64')}:`,
  })
  return reply.send(request.method === 'HEAD' ? '' : archive)
}
