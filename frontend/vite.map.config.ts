import { defineConfig } from "vite";

/* The points of the map: three.js, fetched only by who opens the map. */
export default defineConfig({
  publicDir: false,
  define: { "process.env.NODE_ENV": '"production"' },
  build: {
    outDir: "../src/manyview/web/static",
    emptyOutDir: false,
    target: "es2022",
    lib: { entry: "src/map/webgl.ts", name: "manyviewMap", formats: ["iife"], fileName: () => "assets/map.js" },
  },
});
