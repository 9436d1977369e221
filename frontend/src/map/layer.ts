/** What draws the points, whether by WebGL or on a plain canvas. */

export interface View {
  x: number; // the middle of the window, in the map's own units
  y: number;
  scale: number; // pixels per unit
}

export interface PointLayer {
  readonly kind: "webgl" | "canvas";
  setPoints(x: Float32Array, y: Float32Array): void;
  /** rgba: four bytes a point; shape: 0 disc, 1 square, 2 triangle, 3 diamond, 4 cross. */
  setLook(rgba: Uint8Array, shape: Uint8Array): void;
  draw(view: View, width: number, height: number, ratio: number, size: number): void;
  destroy(): void;
}
