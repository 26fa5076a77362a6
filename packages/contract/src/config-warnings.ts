/**
 * What `X-Config-Warning` can name: settings that are allowed and will disappoint. The SDK imports this file by itself
 * (`@ostiary/contract/config-warnings`), so it must not import the validator.
 */
export const CONFIG_WARNINGS = {
  'estimate-without-buffer':
    'ageThreshold is below 28 with neither step-up nor document: an estimate is wrong by years, so many pass who should not',
  'no-way-for-younger':
    'ageThreshold is 28 or more with neither step-up nor document: whoever looks younger is refused, old enough or not',
  'documentAgeThreshold-missing':
    'step-up with a threshold above 18 and no documentAgeThreshold: the document is held to the same high age',
  'redirect-list-missing': 'the tenant has no redirectUrls, so a stolen key can send users to any https URL',
  'sign-in-needs-hint':
    'the tenant stores tokens: without puid or customerId only a browser that keeps the key of its enrolment can sign in',
  'ignored-field': 'the field belongs to other systems and has no effect here',
} as const satisfies Readonly<Record<string, string>>
export type ConfigWarningCode = keyof typeof CONFIG_WARNINGS
