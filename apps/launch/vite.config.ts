import { defaultClientConditions, defineConfig, type Plugin } from 'vite'
import { RUNTIME } from './runtime-files.ts'

/**
 * Vite wraps every dynamic import in a helper that also loads the chunk's styles. Our chunks have none, so this replaces the helper by a
 * plain import and saves half a kilobyte. It relies on two internals of Vite, the module's id and its export: look at both in an upgrade.
 */
const NO_PRELOAD_HELPER: Plugin = {
  name: 'no-preload-helper',
  enforce: 'pre',
  load: (id) => (id === '\0vite/preload-helper.js' ? 'export const __vitePreload = (load) => load()' : null),
}

// biome-ignore lint/style/noDefaultExport: Vite takes its settings from the default export.
export default defineConfig(({ mode }) => {
  // The screen catalog shows every screen with invented props, for screenshots and accessibility checks. It is not part of the page.
  const hasScreenCatalog = mode === 'screen-catalog'
  return {
    root: import.meta.dirname,
    // Relative, so that the page can be served at any path.
    base: './',
    plugins: [NO_PRELOAD_HELPER],
    // The global `RUNTIME` of the page's worker: paths, size and hash of the ONNX runtime's files.
    define: { RUNTIME: JSON.stringify(RUNTIME.facts) },
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
