import type { Locator, Page } from 'playwright-core';
import { tabTo } from './tab-to.ts';

/** How somebody works on a page, and how often they had to choose something: each is a click, or Tab to it and Enter. */
export interface Hand {
  press(control: Locator): Promise<void>;
  /** Going into a field counts as well. */
  type(field: Locator, text: string, key?: 'Enter'): Promise<void>;
  readonly presses: number;
}

const WITH = {
  mouse: async (_page: Page, control: Locator) => control.click(),
  keyboard: async (page: Page, control: Locator) => {
    await tabTo(page, control);
    await page.keyboard.press('Enter');
  },
};

export type Tool = keyof typeof WITH;

export function handWith(tool: Tool, page: Page): Hand {
  let presses = 0;
  return {
    async press(control) {
      presses += 1;
      await WITH[tool](page, control);
    },
    async type(field, text, key) {
      presses += 1;
      await (tool === 'mouse' ? field.click() : tabTo(page, field));
      // What stands there already is chosen whole by Tab, and so by who clicks three times.
      await page.keyboard.press('Control+a');
      await page.keyboard.type(text);
      if (key) await page.keyboard.press(key);
    },
    get presses() {
      return presses;
    },
  };
}
