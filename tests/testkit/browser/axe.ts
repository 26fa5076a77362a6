import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import type { Page } from 'playwright-core'

const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')
const RULES = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice']

/** The violations that axe-core finds on the page as it is now, one line each. */
export async function violationsOn(page: Page): Promise<string[]> {
  if (await page.evaluate(`typeof axe === 'undefined'`)) await page.evaluate(AXE)
  return page.evaluate(`axe.run(document, { runOnly: ${JSON.stringify(RULES)}, resultTypes: ['violations'] }).then(
    ({ violations }) => violations.map(({ id, help, nodes }) => id + ': ' + help + ': ' + nodes.map(({ html }) => html).join(' '))
  )`)
}
