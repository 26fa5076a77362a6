/** Settings for a service under test. A machine that stalls for seconds is not a fault of the service. */
export const TEST_LIMITS = { DATABASE_STATEMENT_TIMEOUT_MS: '60000', DATABASE_CONNECT_TIMEOUT_MS: '60000' }
