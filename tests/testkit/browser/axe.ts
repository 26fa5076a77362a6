import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import type { Page } from 'playwright-core'

const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')
const RULES = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice']

/** What is judged by colours. The other rules find the same in light and dark. */
const COLOUR_RULES = ['color-contrast', 'link-in-text-block']

/** The violations that axe-core finds on the page as it is now, one line each. */
export const violationsOn = (page: Page) => run(page, RULES)

/** Those of its colours alone: for a page that was judged whole in other colours. */
export const colourViolationsOn = (page: Page) => run(page, { type: 'rule', values: COLOUR_RULES })

/** All others: for a page whose colours were judged in another language. */
export const plainViolationsOn = (page: Page) =>
  run(page, RULES, Object.fromEntries(COLOUR_RULES.map((rule) => [rule, { enabled: false }])))

async function run(page: Page, runOnly: object, rules: object = {}): Promise<string[]> {
  if (await page.evaluate(`typeof axe === 'undefined'`)) await page.evaluate(AXE)
  return page.evaluate(`axe.run(document, { ...${JSON.stringify({ runOnly, rules })}, resultTypes: ['violations'] }).then(
    ({ violations }) => violations.map(({ id, help, nodes }) => id + ': ' + help + ': ' + nodes.map(({ html }) => html).join(' '))
  )`)
}
