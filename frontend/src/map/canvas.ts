/** The points of the map on a plain canvas, where the browser has no WebGL 2. */

import type { PointLayer, View } from "./layer";

class CanvasLayer implements PointLayer {
  readonly kind = "canvas" as const;
  #context: CanvasRenderingContext2D;
  #x: Float32Array = new Float32Array();
  #y: Float32Array = new Float32Array();
  #rgba: Uint8Array = new Uint8Array();
  #shape: Uint8Array = new Uint8Array();
  #stamps = new Map<number, HTMLCanvasElement>();
  #stampSize = 0;

  constructor(private readonly canvas: HTMLCanvasElement) {
    this.#context = canvas.getContext("2d")!;
  }

  setPoints(x: Float32Array, y: Float32Array): void {
    this.#x = x;
    this.#y = y;
  }

  setLook(rgba: Uint8Array, shape: Uint8Array): void {
    this.#rgba = rgba;
    this.#shape = shape;
    this.#stamps.clear();
  }

  draw(view: View, width: number, height: number, ratio: number, size: number): void {
    this.canvas.width = Math.round(width * ratio);
    this.canvas.height = Math.round(height * ratio);
    const pixels = Math.max(2, Math.round(size * ratio));
    if (pixels !== this.#stampSize) {
      this.#stamps.clear();
      this.#stampSize = pixels;
    }
    const scale = view.scale * ratio;
    const left = this.canvas.width / 2 - view.x * scale - pixels / 2;
    const top = this.canvas.height / 2 + view.y * scale - pixels / 2;
    for (let i = 0; i < this.#x.length; i++) {
      if (this.#rgba[4 * i + 3]! < 3) continue;
      const px = left + this.#x[i]! * scale;
      const py = top - this.#y[i]! * scale;
      if (px < -pixels || py < -pixels || px > this.canvas.width || py > this.canvas.height) continue;
      this.#context.drawImage(this.#stamp(i), px, py);
    }
  }

  /** One small picture for each colour and shape, so that a point is a copy. */
  #stamp(i: number): HTMLCanvasElement {
    const [r, g, b, a] = [this.#rgba[4 * i]!, this.#rgba[4 * i + 1]!, this.#rgba[4 * i + 2]!, this.#rgba[4 * i + 3]!];
    const shape = this.#shape[i]!;
    const key = (((r * 256 + g) * 256 + b) * 256 + a) * 8 + shape;
    const known = this.#stamps.get(key);
    if (known) return known;
    const stamp = document.createElement("canvas");
    const s = (stamp.width = stamp.height = this.#stampSize);
    const draw = stamp.getContext("2d")!;
    draw.fillStyle = `rgb(${r} ${g} ${b} / ${a / 255})`;
    draw.beginPath();
    if (shape === 0) draw.arc(s / 2, s / 2, s * 0.45, 0, 2 * Math.PI);
    else if (shape === 1) draw.rect(s * 0.11, s * 0.11, s * 0.78, s * 0.78);
    else if (shape === 2) {
      draw.moveTo(s / 2, s * 0.05);
      draw.lineTo(s * 0.95, s * 0.85);
      draw.lineTo(s * 0.05, s * 0.85);
    } else if (shape === 4) {
      draw.rect(s * 0.34, 0, s * 0.32, s);
      draw.rect(0, s * 0.34, s, s * 0.32);
    } else {
      draw.moveTo(s / 2, 0);
      draw.lineTo(s, s / 2);
      draw.lineTo(s / 2, s);
      draw.lineTo(0, s / 2);
    }
    draw.fill();
    this.#stamps.set(key, stamp);
    return stamp;
  }

  destroy(): void {
    this.#stamps.clear();
  }
}

export function createCanvas(canvas: HTMLCanvasElement): PointLayer {
  return new CanvasLayer(canvas);
}
