export { launchRoutes } from './routes.ts'
export { createLaunch, type Launch } from './service.ts'
