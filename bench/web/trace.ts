import type { Browser, Page } from 'playwright-core';
import { median } from '../report.ts';

/** One event of a trace, times in microseconds; `tdur` is what the thread worked, whatever else the machine did. */
export interface TraceEvent {
  readonly name: string;
  readonly ph: string;
  readonly ts: number;
  readonly dur?: number;
  readonly tdur?: number;
  readonly pid: number;
  readonly tid: number;
}

/** Script that the browser calls. */
const SCRIPT = new Set([
  'FunctionCall',
  'EvaluateScript',
  'FireAnimationFrame',
  'EventDispatch',
  'TimerFire',
  'RunMicrotasks',
]);
/** Ends a frame of the page's thread: what it worked out is handed over to be shown. */
const FRAME = 'Commit';
/** What the browser does on the same thread to show it. */
const RENDERING = new Set(['UpdateLayoutTree', 'Layout', 'PrePaint', 'Paint', 'Layerize', FRAME]);
const CATEGORIES = ['devtools.timeline', 'disabled-by-default-devtools.timeline', 'toplevel'];

export interface FrameTimes {
  readonly frames: number;
  /** Milliseconds of the thread's own time, in the middle frame, in the 99th of 100, and at most. */
  readonly script: Spread;
  readonly rendering: Spread;
}

type Spread = { readonly p50: number; readonly p99: number; readonly most: number };

/** What the page's thread works in each frame while something is done to the page. */
export async function frameTimes(browser: Browser, page: Page, work: () => Promise<void>): Promise<FrameTimes> {
  const main = await traceOf(browser, page, work);
  const ends = main.filter(({ name }) => name === FRAME).map(({ ts, dur = 0 }) => ts + dur);
  const script = perFrame(outermost(main.filter(({ name, ph }) => ph === 'X' && SCRIPT.has(name))), ends);
  const rendering = perFrame(outermost(main.filter(({ name, ph }) => ph === 'X' && RENDERING.has(name))), ends);
  return { frames: ends.length, script: spreadOf(script), rendering: spreadOf(rendering) };
}

/** Traces what the page's thread does meanwhile, in order. */
export async function traceOf(browser: Browser, page: Page, work: () => Promise<void>): Promise<TraceEvent[]> {
  await browser.startTracing(page, { categories: CATEGORIES });
  await work();
  const { traceEvents } = JSON.parse((await browser.stopTracing()).toString()) as { traceEvents: TraceEvent[] };
  return mainThread(traceEvents);
}

/** The thread that has most frames is the page's. */
function mainThread(events: readonly TraceEvent[]): TraceEvent[] {
  const frames = Map.groupBy(
    events.filter(({ name }) => name === FRAME),
    ({ pid, tid }) => `${pid} ${tid}`,
  );
  const [thread] = [...frames].sort(([, a], [, b]) => b.length - a.length)[0] ?? [];
  return events.filter(({ pid, tid }) => `${pid} ${tid}` === thread).sort((a, b) => a.ts - b.ts);
}

/** Without those that lie within another. */
function outermost(events: readonly TraceEvent[]): TraceEvent[] {
  let end = 0;
  return events.filter(({ ts, dur = 0 }) => {
    if (ts < end) return false;
    end = ts + dur;
    return true;
  });
}

function perFrame(events: readonly TraceEvent[], ends: readonly number[]): number[] {
  const sums = ends.map(() => 0);
  let frame = 0;
  for (const { ts, tdur, dur = 0 } of events) {
    while (frame < ends.length && (ends[frame] ?? 0) <= ts) frame += 1;
    if (frame < ends.length) sums[frame] = (sums[frame] ?? 0) + (tdur ?? dur) / 1_000;
  }
  return sums;
}

function spreadOf(values: readonly number[]): Spread {
  const sorted = [...values].sort((a, b) => a - b);
  return { p50: median(values), p99: sorted[Math.floor(sorted.length * 0.99)] ?? 0, most: sorted.at(-1) ?? 0 };
}
