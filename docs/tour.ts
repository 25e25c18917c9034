import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { Locator } from 'playwright-core';
import type { Dashboard } from '../test/kits/web/dashboard.ts';

const SIZE = { width: 1024, height: 680 };
const QUALITY = '75';
/** Typed from frame to frame. */
const LETTERS = 4;
/** How long a frame is shown, in ms: letters as they are typed, what is about to be pressed, what is to be read. */
const TYPED = 160;
const PRESSED = 900;
const READ = 3_000;

const CHANGE = 'let role=ops reach role=web on port 22';
const QUESTION = 'what changed yesterday?';

interface Frame {
  readonly png: Buffer;
  readonly ms: number;
}

/**
 * Takes the moving picture of the README: a change is asked for, its effect is shown, it is approved, and yesterday is asked
 * about. It needs img2webp, of Debian's package webp.
 */
export async function takeTour({ page, go }: Dashboard, file: string): Promise<void> {
  const frames: Frame[] = [];
  const main = page.getByRole('main');
  const show = async (ms: number) => {
    await page.evaluate('new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))');
    frames.push({ png: await page.screenshot(), ms });
  };
  const type = async (field: Locator, text: string) => {
    await field.click();
    for (let typed = 0; typed < text.length; typed += LETTERS) {
      await page.keyboard.type(text.slice(typed, typed + LETTERS));
      await show(TYPED);
    }
  };
  const press = async (button: Locator) => {
    await button.hover();
    await mark(button, '3px solid var(--warn)');
    await show(PRESSED);
    await mark(button, '');
    await button.click();
  };

  /** Waits for a message, and puts it away: it would cover a button. */
  const said = (text: string) =>
    page.getByRole('status').filter({ hasText: text }).getByRole('button', { name: 'Close' }).click();

  await page.setViewportSize(SIZE);
  await go('prod/change');
  await type(main.getByRole('textbox').first(), CHANGE);
  await press(main.getByRole('button', { name: 'Preview' }));
  await main.getByRole('article').getByText('Effect matches the orders').first().waitFor();
  await main.getByRole('article').first().scrollIntoViewIfNeeded();
  await show(READ);
  await press(main.getByRole('button', { name: 'Send for approval' }));
  const approve = main.getByRole('button', { name: 'Approve: ' });
  await approve.waitFor();
  await said('awaits approval');
  await show(READ);
  await press(approve);
  await said('executed');
  await show(READ);
  await go('prod/ask');
  await type(main.getByRole('textbox').first(), QUESTION);
  await press(main.getByRole('button', { name: 'Ask', exact: true }));
  await main.getByText('support-access').first().waitFor();
  await show(2 * READ);
  encode(frames, file);
}

/** A ring around what is about to be pressed, as there is no pointer in a picture. */
async function mark(button: Locator, outline: string): Promise<void> {
  await button.evaluate((element: { readonly style: { outline: string } }, value) => {
    element.style.outline = value;
  }, outline);
}

function encode(frames: readonly Frame[], file: string): void {
  const folder = mkdtempSync(path.join(tmpdir(), 'mesh-tour-'));
  try {
    const named = frames.flatMap(({ png, ms }, index) => {
      const name = path.join(folder, `${index}.png`);
      writeFileSync(name, png);
      return ['-lossy', '-q', QUALITY, '-m', '6', '-d', String(ms), name];
    });
    execFileSync('img2webp', ['-loop', '0', '-min_size', ...named, '-o', file], {
      stdio: ['ignore', 'ignore', 'inherit'],
    });
  } finally {
    rmSync(folder, { recursive: true });
  }
}
