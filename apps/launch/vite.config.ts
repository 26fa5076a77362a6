import { readdirSync } from 'node:fs'
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

/**
 * The contract lists 44 languages, and the page shows those that it has texts for. This leaves the other rows out of the page: their names,
 * each in its own script, take 1 KB. A language without texts is resolved as one that is not known, which `choose` treats alike.
 */
const ONLY_LOCALES_WITH_TEXTS: Plugin = {
  name: 'only-locales-with-texts',
  enforce: 'pre',
  transform(code, id) {
    if (!id.endsWith('/contract/src/locales.ts')) return null
    const texts = readdirSync(join(import.meta.dirname, 'src/texts'))
    const rows = /^ {2}\{ tag: '([^']+)', .*\n/gm
    const kept = code.replaceAll(rows, (row, tag) => (texts.includes(`${tag}.json`) ? row : ''))
    if (kept === code) throw new Error('The rows of locales.ts have another form: none is left out')
    return { code: kept, map: null }
  },
}

// biome-ignore lint/style/noDefaultExport: Vite takes its settings from the default export.
export default defineConfig(({ mode }) => {
  // The screen catalog shows every screen with invented props, for screenshots and accessibility checks. It is not part of the page.
  const hasScreenCatalog = mode === 'screen-catalog'
  return {
    root: import.meta.dirname,
    // Relative, so that the page can be served at any path.
    base: './',
    plugins: [NO_PRELOAD_HELPER, ONLY_LOCALES_WITH_TEXTS],
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
