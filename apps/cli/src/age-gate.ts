/** The README's first session: 18 or older, and nobody who is is lost. Whoever looks younger than 30, or is in doubt, shows a document. */
export const AGE_GATE = {
  ageThreshold: 30,
  stepUpEnabled: true,
  documentInDoubt: true,
  documentAgeThreshold: 18,
} as const
