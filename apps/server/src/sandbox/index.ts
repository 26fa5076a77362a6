export { sandboxRoutes } from './routes.ts'
export { createSandbox, type Sandbox } from './service.ts'
