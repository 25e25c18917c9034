import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { Readable, Writable } from 'node:stream';

const CHROMIUM = '/usr/bin/chromium';
const FLAGS = [
  '--headless',
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--disable-dev-shm-usage',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
  '--no-first-run',
  '--remote-debugging-pipe',
];

export const hasBrowser = existsSync(CHROMIUM);

// biome-ignore lint/suspicious/noExplicitAny: each caller knows the answer of the method it names.
type Answer = any;

/** One page of a fresh headless Chromium, driven over the Chrome DevTools Protocol. */
export async function openBrowser() {
  const profile = mkdtempSync(path.join(tmpdir(), 'chromium-'));
  const child = spawn(CHROMIUM, [...FLAGS, `--user-data-dir=${profile}`, 'about:blank'], {
    stdio: ['ignore', 'ignore', 'ignore', 'pipe', 'pipe'],
  });
  const ended = once(child, 'exit');
  const [toBrowser, fromBrowser] = [child.stdio[3] as Writable, child.stdio[4] as Readable];
  const waiting = new Map<number, PromiseWithResolvers<Answer>>();
  const complaints: string[] = [];
  let sessionId: string | undefined;
  let count = 0;

  function send(method: string, params: object = {}): Promise<Answer> {
    count += 1;
    const answer = Promise.withResolvers<Answer>();
    waiting.set(count, answer);
    toBrowser.write(`${JSON.stringify({ id: count, method, params, sessionId })}\0`);
    return answer.promise;
  }

  let rest = '';
  fromBrowser.setEncoding('utf8').on('data', (chunk: string) => {
    const messages = (rest + chunk).split('\0');
    rest = messages.pop() ?? '';
    for (const text of messages) {
      const { id, result, error, method, params } = JSON.parse(text);
      if (error) waiting.get(id)?.reject(new Error(error.message));
      else waiting.get(id)?.resolve(result);
      waiting.delete(id);
      if (method === 'Runtime.exceptionThrown') complaints.push(params.exceptionDetails.exception.description);
      // A refused request is logged as `network`; the page tells about it itself.
      if (method === 'Log.entryAdded' && params.entry.source !== 'network') complaints.push(params.entry.text);
    }
  });
  const refuse = () => {
    for (const { reject } of waiting.values()) reject(new Error('Chromium has ended.'));
  };
  ended.then(refuse, refuse);
  toBrowser.on('error', refuse);

  const { targetId } = await send('Target.createTarget', { url: 'about:blank' });
  sessionId = (await send('Target.attachToTarget', { targetId, flatten: true })).sessionId;
  await Promise.all(['Page.enable', 'Runtime.enable', 'Log.enable'].map((method) => send(method)));

  async function run(expression: string): Promise<Answer> {
    const { result, exceptionDetails } = await send('Runtime.evaluate', { expression, returnByValue: true });
    if (exceptionDetails) throw new Error(exceptionDetails.exception.description);
    return result.value;
  }
  const find = (selector: string) => `document.querySelector(${JSON.stringify(selector)})`;

  return {
    /** What the page threw, and what its security policy refused. */
    complaints,
    send,
    run,
    open: (url: string) => send('Page.navigate', { url }),
    /** What a person sees of an element. */
    text: (selector: string): Promise<string> => run(`${find(selector)}?.innerText ?? ''`),
    type: (selector: string, text: string) => run(`${find(selector)}.value = ${JSON.stringify(text)}`),
    click: (selector: string) => run(`${find(selector)}.click()`),
    async screenshot(): Promise<Buffer> {
      const { data } = await send('Page.captureScreenshot', { captureBeyondViewport: true });
      return Buffer.from(data, 'base64');
    },
    async [Symbol.asyncDispose](): Promise<void> {
      child.kill('SIGTERM');
      await ended;
      rmSync(profile, { recursive: true, force: true, maxRetries: 5 });
    },
  };
}
