/** The client that customers use, for measures. */
export { createClient, type FileScreening, type ScreeningChange, type ScreenProgress } from '@ostiary/sdk'
