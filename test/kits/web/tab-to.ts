import type { Locator, Page } from 'playwright-core';

/** More than a page has to tab through. */
const MOST_TABS = 80;

/** Presses Tab until an element has the focus, as somebody without a mouse does. @throws where it cannot be reached so */
export async function tabTo(page: Page, to: Locator): Promise<void> {
  await to.waitFor();
  for (let count = 0; count < MOST_TABS; count += 1) {
    const isThere = await to.evaluate((element) => element.matches(':focus'));
    if (isThere) return;
    await page.keyboard.press('Tab');
  }
  throw new Error(`Tab does not lead to ${to}.`);
}
