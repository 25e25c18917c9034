import type { Browser, Page } from 'playwright-core';
import { traceOf } from './trace.ts';

export interface Work {
  /** Processor time of the page's thread: script, style, layout and paint. */
  readonly processorMs: number;
  /** As a person waits, until the condition holds. */
  readonly waitedMs: number;
}

/** A task of the page's thread, with all that it calls. */
const TASK = 'ThreadControllerImpl::RunTask';
/** How often the condition is tried: each try is work of the page too. */
const [POLL_MS, LATER_MS, LATER] = [20, 250, 20];

/** Measures what the page's thread works from an act until a condition holds and is painted. */
export async function workOf(
  browser: Browser,
  page: Page,
  act: () => Promise<unknown>,
  condition: string,
): Promise<Work> {
  let waitedMs = 0;
  const events = await traceOf(browser, page, async () => {
    const begun = performance.now();
    await act();
    await page.evaluate(`(async () => {
      for (let tries = 0; !(${condition}); tries += 1) {
        await new Promise((done) => setTimeout(done, tries < ${LATER} ? ${POLL_MS} : ${LATER_MS}));
      }
    })()`);
    waitedMs = performance.now() - begun;
    await page.evaluate('new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))');
  });
  const tasks = events.filter(({ name, ph }) => ph === 'X' && name === TASK);
  return { processorMs: tasks.reduce((sum, { tdur, dur = 0 }) => sum + (tdur ?? dur), 0) / 1_000, waitedMs };
}
