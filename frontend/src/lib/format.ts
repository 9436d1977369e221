/** Numbers, times and names as people read them. */

const plain = new Intl.NumberFormat("en");

export function count(n: number): string {
  return plain.format(n);
}

const short = new Intl.NumberFormat("en", { notation: "compact" });

/** A count where room is short: 9.2K. */
export function compact(n: number): string {
  return short.format(n);
}

export function counted(n: number, one: string, many = `${one}s`): string {
  return `${count(n)} ${n === 1 ? one : many}`;
}

/** A view as people call it: "looks" for the embedding of pictures. */
export function viewWord(name: string): string {
  return name === "embedding" ? "looks" : name.replaceAll("_", " ");
}

export function percent(share: number | null | undefined): string {
  if (share === null || share === undefined) return "–";
  const value = share * 100;
  return `${value > 0 && value < 9.95 ? value.toFixed(1) : Math.round(value)}\u00a0%`;
}

export function fixed(value: number | null | undefined, digits = 2): string {
  return value === null || value === undefined ? "–" : value.toFixed(digits).replace(/^-(0(?:\.0*)?)$/, "$1").replace("-", "−");
}

export function duration(seconds: number | null | undefined): string {
  if (seconds === null || seconds === undefined) return "–";
  if (seconds < 0.95) return "under a second";
  if (seconds < 90) return `${Math.round(seconds)} s`;
  if (seconds < 5400) return `${Math.round(seconds / 60)} min`;
  return `${(seconds / 3600).toFixed(1)} h`;
}

export function when(at: string | null | undefined): string {
  if (!at) return "–";
  const date = new Date(at);
  if (Number.isNaN(date.getTime())) return at;
  const year: Intl.DateTimeFormatOptions = date.getFullYear() === new Date().getFullYear() ? {} : { year: "numeric" };
  return date.toLocaleString("en-GB", { day: "numeric", month: "short", ...year, hour: "2-digit", minute: "2-digit" });
}

/** A day, and the time where it is known: 17 Nov 2026, 02:32. */
export function day(at: string): string {
  const date = new Date(at);
  if (Number.isNaN(date.getTime()) || !/^\d{4}-\d\d-\d\d/.test(at)) return at;
  const clock: Intl.DateTimeFormatOptions = /T\d\d:\d\d/.test(at) ? { hour: "2-digit", minute: "2-digit" } : { timeZone: "UTC" };
  return date.toLocaleString("en-GB", { day: "numeric", month: "short", year: "numeric", ...clock });
}

/** The last part of a key, which is what a person would call the item. */
export function shortName(key: string): string {
  return key.split("/").filter(Boolean).at(-1) ?? key;
}

/** How long it will still take, as one says it. */
export function timeLeft(seconds: number): string {
  return seconds < 0.95 ? "nearly done" : `about ${duration(seconds)} left`;
}

const WORK: Record<string, string> = { fit: "Clustering", suggest: "Proposing tags", add: "Looking for new items", map: "Drawing the map", apply: "Writing files" };

/** What a job does, for people. */
export function jobWord(kind: string): string {
  return WORK[kind] ?? kind;
}

/** A server's remark as a sentence of the page. */
export function sentence(text: string | null | undefined): string {
  if (!text) return "";
  const start = text.charAt(0).toUpperCase() + text.slice(1);
  return /[.!?…]$/.test(start) ? start : `${start}.`;
}

/** About how many of these should be right. */
export function expectedRight(proposals: { probability: number | null }[]): number {
  return proposals.reduce((sum, one) => sum + (one.probability ?? 0), 0);
}

/** Why a tag is proposed, without the tag that stands beside it. */
export function reason(proposal: { tag: string; sentence: string }): string {
  const start = `${proposal.tag}: `;
  return sentence(proposal.sentence.startsWith(start) ? proposal.sentence.slice(start.length) : proposal.sentence);
}
