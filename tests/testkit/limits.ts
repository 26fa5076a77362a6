/** Settings for a service under test. A machine that stalls for seconds is not a fault of the service. */
export const TEST_LIMITS = { DATABASE_STATEMENT_TIMEOUT_MS: '60000', DATABASE_CONNECT_TIMEOUT_MS: '60000' }

/** For a process whose database is killed: it must give up as soon as in production. */
export const PRODUCT_LIMITS = { DATABASE_CONNECT_TIMEOUT_MS: '3000' }
