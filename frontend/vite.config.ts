import { svelte } from "@sveltejs/vite-plugin-svelte";
import { defineConfig } from "vite";

/* Plain scripts under fixed names: an exported site is opened from the disk, where modules do not load. */
export default defineConfig({
  plugins: [svelte({ compilerOptions: { fragments: "tree" }, prebundleSvelteLibraries: false })],
  define: { "process.env.NODE_ENV": '"production"' },
  build: {
    outDir: "../src/manyview/web/static",
    emptyOutDir: true,
    target: "es2022",
    cssTarget: "chrome110",
    assetsInlineLimit: 0,
    lib: { entry: "src/main.ts", name: "manyviewGallery", formats: ["iife"], fileName: () => "assets/app.js", cssFileName: "assets/app" },
  },
});
