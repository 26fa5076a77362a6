export { serviceRoutes, stringRoutes } from './routes.ts'
export { createStringService, purgeExpiredStrings, type StringService } from './service.ts'
