/**
 * The README's first session, a gate for 18. A person shows a document if they look younger than 30, or if the estimate is in doubt: so
 * it turns away no adult who has one.
 */
export const AGE_GATE = {
  ageThreshold: 30,
  stepUpEnabled: true,
  documentInDoubt: true,
  documentAgeThreshold: 18,
} as const
