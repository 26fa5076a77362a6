import { defaultClientConditions, defineConfig, loadEnv, type Plugin } from 'vite'
import { RUNTIME } from './runtime-files.ts'

/** Lazy chunks have no styles. Without this, Vite adds half a kilobyte of code that preloads styles. */
const PLAIN_IMPORTS: Plugin = {
  name: 'plain-imports',
  enforce: 'pre',
  load: (id) => (id === '\0vite/preload-helper.js' ? 'export const __vitePreload = (load) => load()' : null),
}

// biome-ignore lint/style/noDefaultExport: Vite takes its settings from the default export.
export default defineConfig(({ mode }) => {
  // The screen catalog shows every screen with invented props, for screenshots and accessibility checks. It is not part of the page.
  const hasScreenCatalog =
    mode === 'screen-catalog' || loadEnv(mode, import.meta.dirname, 'SCREEN_CATALOG').SCREEN_CATALOG === '1'
  return {
    root: import.meta.dirname,
    // Relative, so that the page can be served at any path.
    base: './',
    plugins: [PLAIN_IMPORTS],
    define: { RUNTIME: JSON.stringify(RUNTIME.facts) },
    oxc: { jsx: { runtime: 'automatic', importSource: 'preact' } },
    // The runtime's loader is a separate file, because the runtime starts its threads from it.
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
