/** Rows that no test proves as written, each with the reason. `npm run spec` prints them; a row that is on no list must be proven. */
const DOCUMENTS = 'needs the document step'
const TYPED_IN = 'the rule is tested with document values typed into the sandbox; no document is read yet'
const TOKEN = 'needs the homomorphic token'

/** The capability is not there. No test may carry the id of such a row. */
export const WAITING: Readonly<Record<string, string>> = {
  'C-002': DOCUMENTS,
  'C-018': DOCUMENTS,
  'D-003': `${DOCUMENTS}; the passkey half is tested`,
  'D-004': `${TOKEN}; the page sends a face vector from which a similar face can be made`,
  'D-017': 'the page has texts in 3 of the 44 languages',
  'D-027': `${DOCUMENTS}; ENROLL refuses identity_document`,
  'D-037': DOCUMENTS,
  'D-043': TOKEN,
  'D-044': TOKEN,
  'D-045': TOKEN,
  'D-046': TOKEN,
  'D-047': TOKEN,
  'D-048': TOKEN,
}

/** The decision is tested, the capability behind it is missing or narrower than the sentence. A passing test of any kind is needed. */
export const RULE_ONLY: Readonly<Record<string, string>> = {
  'C-019': TYPED_IN,
  'C-021': TYPED_IN,
  'C-022': TYPED_IN,
  'C-024': TYPED_IN,
  'C-025': 'that no document is asked for is tested; no page could ask for one yet',
  'C-026': 'that no document is asked for is tested; no page could ask for one yet',
  'C-027': TYPED_IN,
  'C-040': TYPED_IN,
  'C-041': TYPED_IN,
  'C-042': TYPED_IN,
  'C-043': TYPED_IN,
  'C-046': TYPED_IN,
}
