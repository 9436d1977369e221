/** A gallery exported as plain files: what it knows lies beside the page as scripts, since files cannot be fetched. */

declare global {
  interface Window {
    MANYVIEW_SITE?: object;
    MANYVIEW_DATA?: Record<string, unknown>;
  }
}

/** Is this an exported copy, without a server? */
export const site: boolean = window.MANYVIEW_SITE !== undefined;

const loaded = new Map<string, Promise<unknown>>();

/** One file of the export. */
export function load<T>(slug: string): Promise<T> {
  let waiting = loaded.get(slug);
  if (!waiting) {
    waiting = new Promise((resolve, reject) => {
      const script = document.createElement("script");
      script.src = `./data/${slug}.js`;
      script.onload = () => resolve(window.MANYVIEW_DATA?.[slug]);
      script.onerror = () => {
        loaded.delete(slug); // a web server may have it the next time
        reject(new Error("This is not part of the exported copy, or it could not be read."));
      };
      document.head.append(script);
    });
    loaded.set(slug, waiting);
  }
  return waiting as Promise<T>;
}
