import type { Locator, Page, Request } from 'playwright-core';
import type { Dashboard } from './dashboard.ts';

/** What is on the screen: an address with all that can be unfolded, or what one of its buttons opened. */
export interface Seen {
  readonly address: string;
  /** The button that was pressed, and what it opened. */
  readonly by?: string;
}

/** Requests of a page that are not answered yet, but for the one that stays open to hear of changes. */
export function watchRequests(page: Page) {
  const open = new Set<Request>();
  page.on('request', (request) => {
    if (!request.url().endsWith('/events')) open.add(request);
  });
  for (const end of ['requestfinished', 'requestfailed'] as const) page.on(end, (request) => open.delete(request));
  return open;
}

const TWO_FRAMES = 'new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))';
/** A page without a heading has not come yet. */
const IS_BUSY = "document.querySelector('main h1, main h2') === null || document.querySelector('main [aria-busy=true]') !== null";

/** Waits until nothing is asked for and nothing is about to be drawn. */
export async function settled(page: Page, open: ReadonlySet<Request>): Promise<void> {
  for (let quiet = 0; quiet < 2; ) {
    await page.evaluate(TWO_FRAMES);
    quiet = open.size > 0 || (await page.evaluate(IS_BUSY)) ? 0 : quiet + 1;
  }
}

const UNFOLD = "for (const one of document.querySelectorAll('main details')) one.open = true";
const BUTTONS = 'main button:enabled:visible';
const OPENED = 'dialog[open], [popover]:popover-open';

/**
 * Goes to each address in place and presses each button there, and in each dialog that opens; buttons of one text once. What
 * a button writes is for who drives the page to withhold.
 */
export async function* walk(dashboard: Dashboard, addresses: readonly string[]): AsyncGenerator<Seen> {
  const { page } = dashboard;
  const open = watchRequests(page);
  const still = () => settled(page, open);
  for (const address of addresses) {
    const arrive = async () => {
      await dashboard.go('prod/settings/nowhere');
      await dashboard.go(`prod/${address}`);
      await still();
      await page.evaluate(UNFOLD);
      await still();
    };
    await arrive();
    yield { address };
    const here = page.url();
    const pressed = new Set<string>();
    for (;;) {
      const next = await unpressed(page.locator(BUTTONS), pressed);
      if (!next) break;
      await next.button.click();
      await still();
      if ((await page.locator(OPENED).count()) > 0) {
        yield { address, by: next.text };
        yield* within(page, still, { address, by: next.text });
      }
      if (page.url() !== here) await arrive();
      else await page.evaluate(UNFOLD);
    }
  }
}

/** Presses what stands in the dialog, with what it wants to have typed. */
async function* within(page: Page, still: () => Promise<void>, seen: Seen): AsyncGenerator<Seen> {
  const dialog = page.locator(OPENED).last();
  const pressed = new Set<string>();
  for (const field of await dialog.locator('label:has(input:not([type]), textarea)').all()) {
    const wanted = /^Type (.*) to confirm/su.exec((await field.textContent()) ?? '')?.[1];
    await field.locator('input, textarea').fill(wanted ?? 'something');
  }
  for (;;) {
    if ((await page.locator(OPENED).count()) === 0) return;
    const next = await unpressed(dialog.locator('button:enabled:visible'), pressed);
    if (!next) break;
    await next.button.click();
    await still();
    if (next.text === '') continue;
  }
  yield { address: seen.address, by: `${seen.by}, all pressed` };
  await page.keyboard.press('Escape');
  await page.locator(OPENED).first().waitFor({ state: 'hidden' });
}

async function unpressed(buttons: Locator, pressed: Set<string>) {
  const texts = await buttons.allTextContents();
  const index = texts.findIndex((text) => !pressed.has(text));
  const text = texts[index];
  if (text === undefined) return undefined;
  pressed.add(text);
  return { text, button: buttons.nth(index) };
}
