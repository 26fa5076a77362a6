/** The documents about risk flags and session codes, made from the tables of the contract. */
import {
  CAMERA_FAIL_REASONS,
  CIRCUMSTANCES,
  DEVICE_REPORTABLE,
  INDICATOR_PATHS,
  PRIVACY_TOOL_MAX,
  RETIRED_SESSION_CODES,
  RISK_FLAG_CODES,
  RISK_FLAGS,
  RISK_LEVELS,
  RISK_POLICY_VERSION,
  RISK_RECOMMENDATIONS,
  type RiskSource,
  SESSION_CODE_NAMES,
  SESSION_CODES,
  type SessionCodeName,
} from '@ostiary/contract'
import { SIGNAL_READINGS } from '@ostiary/launch/conformance'

const SOURCES: Readonly<Record<RiskSource, { title: string; text: string }>> = {
  browser: {
    title: 'Browser',
    text: 'From `indicators`. When no browser data arrived, `indicators` is absent and `signals.browser` is null.',
  },
  behavioral: {
    title: 'Behavioral',
    text: 'From the face scan of area C: its timing, the order of its log, its frames. In area D `signals.behavioral` is null, and of these flags only `BH_NO_BROWSER_DATA` counts there.',
  },
  handoff: {
    title: 'Handoff',
    text: `Off by default. A tenant turns it on with \`"sources": ["handoff"]\`.

\`HO_NETWORK_FAR\` compares what is known of both devices: their countries where the operator has a list of networks by country
([network-lists](ops/network-lists.md)), and their time zones where both pages said theirs. Where neither is known it is
not raised. The time zone is a claim of the device. The service keeps country and time zone in the sealed session until it ends, and
no address.`,
  },
  document: {
    title: 'Document',
    text: `From the document step of both areas. They stand in \`flags\` and count for the score; \`signals\` has no entry for them. Except for
\`DO_REUSED\`, each is a hint of the device about the picture of the document, with a rate that was measured on drawn pictures
([accuracy](accuracy/documents.md)). None has a floor. By default none refuses a document, and all six together (83, HIGH) recommend no
\`BLOCK\`. A tenant that sets \`highBlocks\` or higher weights can get \`BLOCK\` from them, and with \`enforceBlock\` -34.`,
  },
  network: {
    title: 'Network',
    text: `Off by default. A tenant turns it on with \`"sources": ["network"]\`.

The service looks up the address of the device that holds the session whenever the page is opened, in lists that the operator
imports as files ([network-lists](ops/network-lists.md)). Without such a list the flag is never raised. The address is
not kept.`,
  },
}
const ORDER: readonly RiskSource[] = ['browser', 'behavioral', 'handoff', 'network', 'document']

/** docs/risk-flags.md */
export function riskFlagsDocument(): string {
  return `# Risk flags

<!-- Generated from packages/contract/src/risk-flags.ts by "npm run docs". Do not edit. -->

Results of area C and webhooks of area D carry \`riskEvaluation\`. This is what is in it and how it is made. The policy below
is version \`${RISK_POLICY_VERSION}\`; every evaluation names its version in \`policyVersion\` (our extension).

## Which field to use

\`recommendation\` is the primary field for access decisions:

| \`recommendation\` | Means |
|---|---|
${Object.entries(RISK_RECOMMENDATIONS)
  .map(([name, meaning]) => `| \`${name}\` | ${meaning} |`)
  .join('\n')}

That is: \`ALLOW\` means proceed, \`REVIEW\` means manual review, \`BLOCK\` means deny. It is advice. Nothing is refused because of it
unless the tenant enforces \`BLOCK\`; then such a session ends without a verdict and with code ${SESSION_CODES.POLICY_BLOCKED.code} ([session-codes.md](session-codes.md)).

**The outcome comes first.** A recommendation is about the signs of a session, not about its end. One that is still open, was cancelled,
expired or failed can carry \`ALLOW\`, because nothing suspicious was seen. Where all of \`signals\` are null nobody looked: the score
is 0 by its rule, and the recommendation is \`REVIEW\` all the same (only the chosen outcome of a test session is \`ALLOW\` then). Look at the verdict first (area C: \`flowStatus\` \`COMPLETED\` and
\`sessionStatus\`; area D: \`status\` \`SUCCESS\`), then at the recommendation.

## From flags to a score

Each flag has a weight *w* and some have a floor. The score is \`100 × (1 − (1 − w₁/100) × (1 − w₂/100) × …)\`, rounded half up to a
whole number, then raised to the highest floor among the flags. So weak signs add up without ever passing 100, one more flag
never lowers a score, and the order does not matter. Each source in \`signals\` has a score made the same way from its own flags.

| Score | \`level\` | \`recommendation\` |
|---|---|---|
${levelRows()}

- An evaluation of policy 1 stays as it was stored. Policy 2 adds \`BH_NO_BROWSER_DATA\`, and \`REVIEW\` where nothing was evaluated. Policy 3 adds the flags \`DO_\`.
- A flag stands in \`flags\` once, in the order of the tables below. A flag that a tenant switched off (weight and floor 0) is left out.
- \`indicators\` stay raw: weights never change them. What a browser has no interface for is false there, because a missing
  interface is no suspicion.
- Some circumstances explain a flag. Its weight is then lower and its floor does not apply (column "Honest causes").
- All browser signals are claims of the device: someone who controls the browser can hide them. They find the
  careless. Behavioral flags are worked out on the server, from what the device reported and from what the server itself saw.
- How often each flag is raised in honest sessions has not been measured yet.

${ORDER.map(sourceSection).join('\n\n')}

¹ Privacy tools raise this flag in honest hands. Alone it never lifts the score above MEDIUM: its weight and floor are at most
${PRIVACY_TOOL_MAX}, also for a tenant who changes them.

## What the launch page looks at

All 21 are evaluated on the device, in well under a second while the models load; what is sent is one letter each. None of them
opens a camera, asks for a permission or sends anything, and the name of the camera stays on the device. A question that a browser
does not answer within 0.3 seconds is not evaluated. What is not evaluated is false in \`indicators\`.

| Indicator | Suspicious | Not evaluated |
|---|---|---|
${readingRows()}

The page also says what kind of browser it runs in: inside another app (by the user agent), one that protects privacy (Brave,
DuckDuckGo, Firefox Focus, Tor Browser and what looks like it), or an ordinary one; and whether the camera is a phone that serves as
a webcam (by its name). The weights above are softened by that where the tables say so.

## Other weights

A tenant may change weights and floors, let HIGH recommend \`BLOCK\` (\`highBlocks\`), and turn further sources on (\`sources\`).
\`policyVersion\` then ends with \`+\` and a digest of the changes. To see beforehand what a change would do:

\`\`\`sh
echo '{ "flags": { "BR_WEBGL": { "weight": 10 } }, "highBlocks": true }' > weights.json
ostiary risk explain BR_WEBGL BH_TOO_FAST --weights weights.json      # in a clone: README, "The command line"
\`\`\`
`
}

function levelRows(): string {
  return RISK_LEVELS.map(({ level, min, recommendation }, index) => {
    const above = RISK_LEVELS[index - 1]
    return `| ${min} to ${above === undefined ? 100 : above.min - 1} | \`${level}\` | \`${recommendation}\` |`
  })
    .reverse()
    .join('\n')
}

function sourceSection(source: RiskSource): string {
  const rows = RISK_FLAG_CODES.filter((code) => RISK_FLAGS[code].source === source).map((code) => {
    const { weight, floor, cause, falsePositive, indicator, softened, privacyTool } = RISK_FLAGS[code]
    const raisedBy = indicator === undefined ? cause : `${cause} \`${indicator}\``
    const honest = softened
      ? `${falsePositive} Weight ${softened.weight} when ${CIRCUMSTANCES[softened.when]}.`
      : falsePositive
    return `| \`${code}\`${privacyTool ? ' ¹' : ''} | ${raisedBy} | ${weight} | ${floor === 0 ? '-' : floor} | ${honest} |`
  })
  const { title, text } = SOURCES[source]
  return `## ${title}

${text}

| Flag | Raised by | Weight | Floor | Honest causes |
|---|---|---|---|---|
${rows.join('\n')}`
}

function readingRows(): string {
  return INDICATOR_PATHS.map((path) => {
    const { suspicious, notEvaluated } = SIGNAL_READINGS[path]
    return `| \`${path}\` | ${suspicious} | ${notEvaluated || '-'} |`
  }).join('\n')
}

const KINDS = { F: 'ends', D: 'noted', 'F*': 'ends after the last try' } as const

/** docs/session-codes.md */
export function sessionCodesDocument(): string {
  const device = new Set<SessionCodeName>(DEVICE_REPORTABLE)
  const rows = SESSION_CODE_NAMES.map((name) => {
    const { code, kind, meaning, host, message } = SESSION_CODES[name]
    const mark = device.has(name) ? ' ¹' : ''
    return `| ${code} | \`${name}\`${mark} | ${KINDS[kind]} | ${meaning} | ${host} | ${message} |`
  })
  const retired = Object.entries(RETIRED_SESSION_CODES).map(
    ([code, name]) =>
      `- ${code} is never sent. Systems of this kind used it for ${SESSION_CODES[name].code} \`${name}\`.`,
  )
  return `# Session codes

<!-- Generated from packages/contract/src/session-codes.ts by "npm run docs". Do not edit. -->

What went wrong in a session, as numbers. Area C carries them in \`errors\` (an array of numbers; the extension \`errorDetails\` adds
name and reason), area D in \`errors\` as \`{ code, message }\` and, when a SIGN-IN fails, in \`errorCodes\`.

- A code is never reused and never changes its meaning. It may gain reasons.
- Kind: *ends* ends the session; *noted* is collected and the session goes on; *ends after the last try* is noted while tries
  are left and ends the session then.
- A session that ends by a code without a verdict has the status \`AGE_UNKNOWN\`, never above a threshold.
- ¹ marks what a device may report about itself. Such a report is a claim: it can end a session, never pass it.
- Area E has its own \`status\` numbers ([errors.md](errors.md)); -1 and -2 there have nothing to do with this table.

| Code | Name | Kind | Meaning | What to do | \`message\` in D |
|---|---|---|---|---|---|
${rows.join('\n')}

${retired.join('\n')}

## Reasons of ${SESSION_CODES.CAMERA_FAIL.code} \`CAMERA_FAIL\`

| Reason | Meaning |
|---|---|
${Object.entries(CAMERA_FAIL_REASONS)
  .map(([reason, meaning]) => `| \`${reason}\` | ${meaning} |`)
  .join('\n')}
`
}
