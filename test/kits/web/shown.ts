import { setTimeout as after } from 'node:timers/promises';
import type { Page } from 'playwright-core';

/** A page that does not answer is told as one. */
const PATIENCE_MS = 5_000;
/** Characters of one text. */
const MOST = 1_200;
/** Tokens, keys and secrets of authenticators are longer than any word. */
const SECRETS = /[\w+/=-]{24,}/g;

/** What somebody would see there. No value of a field, and no code block: what is shown once stands in one. */
const SHOWN = `(() => {
  const isVisible = (one) => one.checkVisibility({ visibilityProperty: true });
  const textOf = (one) =>
    [...one.querySelectorAll('pre')].reduce((text, { innerText }) => text.replace(innerText, () => '(code)'), one.innerText);
  const { activeElement: focused } = document;
  const name = focused && (focused.getAttribute('aria-label') ?? (focused.labels?.[0]?.innerText || focused.innerText));
  return {
    title: document.title,
    address: location.pathname + location.hash,
    focused: focused && focused !== document.body ? focused.localName + ' ' + name : 'nothing',
    alerts: [...document.querySelectorAll('[role=alert], [role=status], dialog[open]')].filter(isVisible).map(textOf).filter(Boolean),
    main: [...document.querySelectorAll('main')].map(textOf),
  };
})()`;

type Shown = Readonly<Record<string, string | readonly string[]>>;

const open = new Set<Page>();
let closed: string[] = [];

/** From now on, until `leave`, it is among what `everythingShown` tells of. */
export function watch(page: Page): void {
  open.add(page);
}

/** Before a page is closed: what it shows is kept until `forgetClosed`. */
export async function leave(page: Page): Promise<void> {
  if (open.delete(page) && !page.isClosed()) closed.push(await shownBy(page));
}

/** At the beginning of a test. */
export function forgetClosed(): void {
  closed = [];
}

/** Of the pages of this test, one text each, in the order in which they were closed; last those that are open. */
export async function everythingShown(): Promise<readonly string[]> {
  const still = [...open].filter((page) => !page.isClosed());
  return [...closed, ...(await Promise.all(still.map(shownBy)))];
}

async function shownBy(page: Page): Promise<string> {
  const silence = after(PATIENCE_MS, undefined, { ref: false }).then(() =>
    Promise.reject(new Error('it does not answer')),
  );
  try {
    const shown = await Promise.race([page.evaluate<Shown>(SHOWN), silence]);
    const lines = Object.entries(shown).map(([what, texts]) => `  ${what}: ${[texts].flat().map(inShort).join(' | ')}`);
    return ['The page showed:', ...lines].join('\n');
  } catch (error) {
    return `What the page showed cannot be told: ${inShort(String(error))}`;
  }
}

function inShort(text: string): string {
  const line = text.replaceAll(SECRETS, '(secret)').replace(/\s+/g, ' ').trim();
  return line.length > MOST ? `${line.slice(0, MOST)}…` : line;
}
