/** The points of the map, by three.js. A script of its own, since only the map needs it. */

import { BufferAttribute, BufferGeometry, NormalBlending, OrthographicCamera, Points, Scene, ShaderMaterial, WebGLRenderer } from "three";

import type { PointLayer, View } from "./layer";

const VERTEX = `
attribute vec4 look;
attribute float form;
uniform float size;
varying vec4 vLook;
varying float vForm;
void main() {
  vLook = look;
  vForm = form;
  gl_Position = projectionMatrix * modelViewMatrix * vec4(position, 1.0);
  gl_PointSize = look.a < 0.01 ? 0.0 : size;
}`;

const FRAGMENT = `
varying vec4 vLook;
varying float vForm;
void main() {
  vec2 p = gl_PointCoord * 2.0 - 1.0;
  float d;
  if (vForm < 0.5) d = length(p) - 0.9;
  else if (vForm < 1.5) d = max(abs(p.x), abs(p.y)) - 0.78;
  else if (vForm < 2.5) d = max(abs(p.x) * 0.9 - p.y * 0.5, p.y) - 0.62;
  else if (vForm < 3.5) d = abs(p.x) + abs(p.y) - 1.0;
  else d = max(min(abs(p.x), abs(p.y)) - 0.32, max(abs(p.x), abs(p.y)) - 0.95);
  float edge = fwidth(d);
  float inside = 1.0 - smoothstep(-edge, edge, d);
  if (inside * vLook.a < 0.01) discard;
  gl_FragColor = vec4(vLook.rgb, vLook.a * inside);
}`;

class WebglLayer implements PointLayer {
  readonly kind = "webgl" as const;
  #renderer: WebGLRenderer;
  #scene = new Scene();
  #camera = new OrthographicCamera(-1, 1, 1, -1, -1, 1);
  #geometry = new BufferGeometry();
  #material = new ShaderMaterial({
    vertexShader: VERTEX,
    fragmentShader: FRAGMENT,
    uniforms: { size: { value: 6 } },
    transparent: true,
    depthTest: false,
    depthWrite: false,
    blending: NormalBlending,
  });

  constructor(canvas: HTMLCanvasElement) {
    this.#renderer = new WebGLRenderer({ canvas, alpha: true, antialias: false, powerPreference: "low-power" });
    this.#renderer.setClearColor(0x000000, 0);
    const points = new Points(this.#geometry, this.#material);
    points.frustumCulled = false;
    this.#scene.add(points);
  }

  setPoints(x: Float32Array, y: Float32Array): void {
    const position = new Float32Array(3 * x.length);
    for (let i = 0; i < x.length; i++) {
      position[3 * i] = x[i]!;
      position[3 * i + 1] = y[i]!;
    }
    this.#geometry.setAttribute("position", new BufferAttribute(position, 3));
  }

  setLook(rgba: Uint8Array, shape: Uint8Array): void {
    this.#geometry.setAttribute("look", new BufferAttribute(rgba, 4, true));
    this.#geometry.setAttribute("form", new BufferAttribute(Float32Array.from(shape), 1));
  }

  draw(view: View, width: number, height: number, ratio: number, size: number): void {
    this.#renderer.setPixelRatio(ratio);
    this.#renderer.setSize(width, height, false);
    const halfWidth = width / 2 / view.scale;
    const halfHeight = height / 2 / view.scale;
    this.#camera.left = view.x - halfWidth;
    this.#camera.right = view.x + halfWidth;
    this.#camera.top = view.y + halfHeight;
    this.#camera.bottom = view.y - halfHeight;
    this.#camera.updateProjectionMatrix();
    this.#material.uniforms["size"]!.value = size * ratio;
    this.#renderer.render(this.#scene, this.#camera);
  }

  destroy(): void {
    this.#geometry.dispose();
    this.#material.dispose();
    this.#renderer.dispose();
  }
}

export function create(canvas: HTMLCanvasElement): PointLayer {
  return new WebglLayer(canvas);
}
