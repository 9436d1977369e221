/** Choose what draws: WebGL 2 where the browser has it. */

import { createCanvas } from "./canvas";
import type { PointLayer } from "./layer";

interface MapScript {
  create(canvas: HTMLCanvasElement): PointLayer;
}
declare global {
  interface Window {
    manyviewMap?: MapScript;
  }
}

let script: Promise<MapScript> | null = null;

function load(): Promise<MapScript> {
  script ??= new Promise((resolve, reject) => {
    const tag = document.createElement("script");
    tag.src = "./assets/map.js";
    tag.onload = () => (window.manyviewMap ? resolve(window.manyviewMap) : reject(new Error("the map's script is empty")));
    tag.onerror = () => reject(new Error("the map's script did not load"));
    document.head.append(tag);
  });
  return script;
}

function hasWebgl(): boolean {
  try {
    return document.createElement("canvas").getContext("webgl2") !== null;
  } catch {
    return false;
  }
}

/** `fresh` gives a new canvas: one that was tried for WebGL cannot be used for anything else. */
export async function openLayer(fresh: () => HTMLCanvasElement): Promise<PointLayer> {
  if (hasWebgl()) {
    try {
      return (await load()).create(fresh());
    } catch (problem) {
      console.info("The map falls back to a plain canvas.", problem);
    }
  }
  return createCanvas(fresh());
}
