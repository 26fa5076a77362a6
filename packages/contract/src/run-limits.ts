/** Runs of area B that a tenant keeps. */
export const RUN_LIMITS = {
  /** Of the setting `screeningRunDays`. */
  daysMax: 400,
  /** Parts of one run: 10 GB of CSV. */
  parts: 5_000,
  /** Pairs of a row and an entry that one run keeps. A run with more is a run with too low a threshold. */
  hits: 200_000,
  hitsPageMax: 1_000,
  /** Hits of either run that one call compares. Its cursor says how far it came. */
  hitsPerComparison: 2_000,
  /** Runs of one tenant, in each mode. */
  runs: 2_000,
  /** A run that is not complete after this is deleted. */
  openHours: 24,
} as const
