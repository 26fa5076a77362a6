import type { Page } from 'playwright-core'

const PREFIX = 'heard: '
/** Runs in the page. Logs what its live regions say, as a screen reader would hear it: every new text, once. */
const LOG_LIVE_TEXTS = `(() => {
  const last = new WeakMap()
  new MutationObserver(() => {
    for (const region of document.querySelectorAll('[role="alert"], [role="status"], [aria-live]')) {
      const text = region.textContent.trim()
      if (text !== '' && text !== last.get(region)) console.debug('${PREFIX}' + text)
      last.set(region, text)
    }
  }).observe(document, { subtree: true, childList: true, characterData: true })
})()`

/** What the page announces from now on, in order. Call it before the page is opened. */
export async function recordHeard(page: Page): Promise<string[]> {
  const heard: string[] = []
  page.on('console', (message) => {
    const text = message.text()
    if (text.startsWith(PREFIX)) heard.push(text.slice(PREFIX.length))
  })
  await page.addInitScript(LOG_LIVE_TEXTS)
  return heard
}
