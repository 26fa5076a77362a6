import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { defaultClientConditions, defineConfig, loadEnv, type Plugin } from 'vite'
import { readFingerprints } from './key-holder-pin.ts'
import { BARCODE_READER, RUNTIME } from './runtime-files.ts'

/**
 * Vite wraps every dynamic import in a helper that also loads the chunk's styles. Our chunks have none, so this replaces the helper by a
 * plain import and saves half a kilobyte. It relies on two internals of Vite, the module's id and its export: look at both in an upgrade.
 */
const NO_PRELOAD_HELPER: Plugin = {
  name: 'no-preload-helper',
  enforce: 'pre',
  load: (id) => (id === '\0vite/preload-helper.js' ? 'export const __vitePreload = (load) => load()' : null),
}

const TEXTS = join(import.meta.dirname, 'src/texts')
const TEXT_FILE = /\/src\/texts\/(?:(?:documents|verification|token)\/)?[\w-]+\.json$/
const TEXT_KEYS = 'virtual:text-keys/'

/**
 * Leaves the keys out of the texts: they are a quarter of each file, and the same in all languages. src/texts/named.ts puts them back. A test
 * checks that all languages have the keys of English, in the same order.
 */
const TEXTS_WITHOUT_KEYS: Plugin = {
  name: 'texts-without-keys',
  enforce: 'pre',
  resolveId: (id) => (id.startsWith(TEXT_KEYS) ? `\0${id}` : null),
  load(id) {
    if (id.startsWith(`\0${TEXT_KEYS}`)) {
      const english = join(TEXTS, id.slice(TEXT_KEYS.length + 1), 'en.json')
      return `export default ${JSON.stringify(Object.keys(readTexts(english)))}`
    }
    // As a script, because Vite's own plugin for JSON files takes every module with such a name.
    return TEXT_FILE.test(id)
      ? { code: `export default ${JSON.stringify(Object.values(readTexts(id)))}`, moduleType: 'js' }
      : null
  },
}

function readTexts(path: string): Readonly<Record<string, unknown>> {
  return JSON.parse(readFileSync(path, 'utf8'))
}

// biome-ignore lint/style/noDefaultExport: Vite takes its settings from the default export.
export default defineConfig(({ mode }) => {
  // The screen catalog shows every screen with invented props, for screenshots and accessibility checks. It is not part of the page.
  const hasScreenCatalog = mode === 'screen-catalog'
  return {
    root: import.meta.dirname,
    // Relative, so that the page can be served at any path.
    base: './',
    plugins: [NO_PRELOAD_HELPER, TEXTS_WITHOUT_KEYS],
    // Globals of the page's workers. `RUNTIME`: paths, size and hash of the ONNX runtime's files. `BARCODE_READER`: the same of zxing.
    define: {
      RUNTIME: JSON.stringify(RUNTIME.facts),
      BARCODE_READER: JSON.stringify(BARCODE_READER.facts),
      KEY_HOLDER_FINGERPRINTS: JSON.stringify(readFingerprints(loadEnv(mode, import.meta.dirname, 'KEY_HOLDER_'))),
    },
    oxc: { jsx: { runtime: 'automatic', importSource: 'preact' } },
    // Selects the build of onnxruntime-web that has its loader in a separate file: the runtime starts its threads from that file.
    resolve: { conditions: ['onnxruntime-web-use-extern-wasm', ...defaultClientConditions] },
    worker: { format: 'es' },
    build: {
      target: 'es2022',
      outDir: 'dist',
      emptyOutDir: true,
      sourcemap: false,
      assetsInlineLimit: 0,
      modulePreload: false,
      rolldownOptions: { input: hasScreenCatalog ? ['index.html', 'screen-catalog.html'] : ['index.html'] },
    },
  }
})
