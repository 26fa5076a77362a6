import { defaultClientConditions, defineConfig, loadEnv } from 'vite'
import { RUNTIME } from './runtime-files.ts'

// biome-ignore lint/style/noDefaultExport: Vite takes its settings from the default export.
export default defineConfig(({ mode }) => {
  // The gallery shows every screen with made-up props, for screenshots and accessibility checks. It is not part of the page.
  const hasGallery = mode === 'gallery' || loadEnv(mode, import.meta.dirname, 'GALLERY').GALLERY === '1'
  return {
    root: import.meta.dirname,
    // Relative, so that the page can lie at any path.
    base: './',
    define: { RUNTIME: JSON.stringify(RUNTIME.facts) },
    oxc: { jsx: { runtime: 'automatic', importSource: 'preact' } },
    // The runtime's own loader lies beside it: threads are made from a file of its own.
    resolve: { conditions: ['onnxruntime-web-use-extern-wasm', ...defaultClientConditions] },
    worker: { format: 'es' },
    build: {
      target: 'es2022',
      outDir: 'dist',
      emptyOutDir: true,
      sourcemap: false,
      assetsInlineLimit: 0,
      modulePreload: false,
      rolldownOptions: { input: hasGallery ? ['index.html', 'gallery.html'] : ['index.html'] },
    },
  }
})
