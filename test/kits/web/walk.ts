import type { Locator, Page, Request } from 'playwright-core';
import type { Dashboard } from './dashboard.ts';

/** What is on the screen: an address with all that unfolds there, or what the button opened that was pressed last. */
export interface Seen {
  readonly address: string;
  readonly button?: string;
}

export interface Walked {
  /** Below the workspace. */
  readonly addresses: readonly string[];
  /** Names of what is listed: a button that stands with each of them is pressed with one. */
  readonly names: readonly string[];
  /** Rows can be sorted alike for everybody. */
  readonly skipsSorting?: boolean;
  /** Each address is looked at, and no button there is pressed. */
  readonly pressesNothing?: boolean;
}

const WORKSPACE = 'prod';
const BUTTONS = 'main button:enabled:visible';
const OPENED = 'dialog[open], [popover]:popover-open';
const UNFOLD = "for (const one of document.querySelectorAll('main details')) one.open = true";
/** Two frames later. A page without a heading has not come yet. */
const IS_DRAWN = `new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))).then(
  () => document.querySelector('main :is(h1, h2)') !== null && !document.querySelector('main [aria-busy=true]'),
)`;

/**
 * Goes to each address in place, presses each button there unless told otherwise, and each in the dialogs that open. What is written by a button
 * is for who drives the page to withhold, so that everything stays as it is.
 */
export async function* walk(
  { page, go }: Dashboard,
  { addresses, names, skipsSorting, pressesNothing }: Walked,
): AsyncGenerator<Seen> {
  const still = stillnessOf(page);
  const namelessly = namelessOf(names);
  const buttons = page.locator(skipsSorting ? `${BUTTONS}:not(th *)` : BUTTONS);
  const pressed = new Map<string, Set<string>>();
  for (const address of addresses) {
    const arrive = async () => {
      // A page that is there already would stay as it is.
      if (page.url().endsWith(`#/${WORKSPACE}/${address}`)) await go(`${WORKSPACE}/home`);
      await go(`${WORKSPACE}/${address}`);
      await still();
      await page.evaluate(UNFOLD);
      await still();
    };
    await arrive();
    yield { address };
    if (pressesNothing) continue;
    const place = namelessly(address.replace(/\?.*/, ''));
    const done = pressed.get(place) ?? new Set();
    pressed.set(place, done);
    const here = page.url();
    for (
      let next = await unpressed(buttons, done, namelessly);
      next;
      next = await unpressed(buttons, done, namelessly)
    ) {
      await next.button.click();
      await still();
      if ((await page.locator(OPENED).count()) > 0) {
        yield { address, button: next.text };
        await pressAllWithin(page, still);
        await page.keyboard.press('Escape');
        await page.locator(OPENED).first().waitFor({ state: 'hidden' });
      }
      if (page.url() !== here) await arrive();
      else await page.evaluate(UNFOLD);
    }
  }
}

/** Presses what stands in what is open, after what it wants to have typed. */
async function pressAllWithin(page: Page, still: () => Promise<void>): Promise<void> {
  const opened = page.locator(OPENED).last();
  for (const label of await opened.locator('label:has(input:not([type]), textarea)').all()) {
    const [, name] = /^Type (.*) to confirm/su.exec((await label.textContent()) ?? '') ?? [];
    await label.locator('input, textarea').fill(name ?? 'as agreed');
  }
  const done = new Set<string>();
  const buttons = opened.locator('button:enabled:visible');
  const as = (text: string) => text;
  for (let next = await unpressed(buttons, done, as); next; next = await unpressed(buttons, done, as)) {
    const { text, button } = next;
    // It closes by Escape, after all else was seen.
    if (!LEAVING.has(text)) await button.click();
    await still();
  }
}

const LEAVING: ReadonlySet<string> = new Set(['Cancel', 'Close']);

async function unpressed(buttons: Locator, done: Set<string>, as: (text: string) => string) {
  const texts = await buttons.allTextContents();
  const index = texts.findIndex((text) => !done.has(as(text)));
  const text = texts[index];
  if (text === undefined) return undefined;
  done.add(as(text));
  return { text, button: buttons.nth(index) };
}

/** What a text says of any name and any number. */
function namelessOf(names: readonly string[]): (text: string) => string {
  const longestFirst = [...names].sort((a, b) => b.length - a.length);
  return (text) => {
    const nameless = longestFirst.reduce((rest, name) => rest.replaceAll(name, '…'), text);
    return nameless.replace(/\d+/g, '#');
  };
}

/** Waits until nothing is asked for that was asked from now on, and nothing is about to be drawn. */
export function stillnessOf(page: Page): () => Promise<void> {
  const asked = openRequests(page);
  return () => settled(page, asked);
}

/** What a page asked and has not been answered, but for what stays open to tell of changes. */
function openRequests(page: Page): ReadonlySet<Request> {
  const open = new Set<Request>();
  page.on('request', (request) => {
    if (!request.url().endsWith('/events')) open.add(request);
  });
  const close = (request: Request) => void open.delete(request);
  page.on('requestfinished', close);
  page.on('requestfailed', close);
  return open;
}

/** Waits until nothing is asked for and nothing is about to be drawn. */
async function settled(page: Page, asked: ReadonlySet<Request>): Promise<void> {
  for (let quiet = 0; quiet < 2; ) {
    const isDrawn = await page.evaluate<boolean>(IS_DRAWN);
    quiet = isDrawn && asked.size === 0 ? quiet + 1 : 0;
  }
}
