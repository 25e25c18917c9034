import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import path from 'node:path';
import type { CallToolResult } from '@modelcontextprotocol/client';
import type { Browser, Frame, Page } from 'playwright-core';
import { build, type Rolldown } from 'vite';
import { faultsBy, type Theme } from './dashboard.ts';

const PAGE = `<!doctype html><html lang="en"><meta charset="utf-8"><title>Host</title>
<style>body { margin: 0 } iframe { display: block; width: 100%; border: 0 }</style>
<main><h1>Conversation</h1></main><script type="module" src="/host.js"></script></html>`;

/** As the extension asks of a host that is a web page: it shows the view in a frame of its own, and passes messages on. */
const SANDBOX = `<!doctype html><html lang="en"><meta charset="utf-8"><title>Sandbox</title>
<style>html, body, iframe { display: block; width: 100%; height: 100%; margin: 0; border: 0 }</style><body><script>
let inner;
addEventListener('message', ({ source, data }) => {
  if (source === inner?.contentWindow) parent.postMessage(data, '*');
  if (source !== parent) return;
  if (data.method !== 'ui/notifications/sandbox-resource-ready') return inner.contentWindow.postMessage(data, '*');
  inner = document.createElement('iframe');
  inner.title = 'View';
  inner.setAttribute('sandbox', data.params.sandbox);
  inner.srcdoc = data.params.html;
  document.body.append(inner);
});
parent.postMessage({ jsonrpc: '2.0', method: 'ui/notifications/sandbox-proxy-ready', params: {} }, '*');
</script></body></html>`;

/** What the extension has a host set for a view that names no origins. */
const SANDBOX_POLICY = [
  "default-src 'none'",
  "script-src 'self' 'unsafe-inline'",
  "style-src 'self' 'unsafe-inline'",
  "img-src 'self' data:",
  "media-src 'self' data:",
  "connect-src 'none'",
].join('; ');

export interface ViewHostOptions {
  readonly theme?: Theme;
  /** CSS pixels. */
  readonly width?: number;
  /** Of the host; it opens links unless told otherwise. */
  readonly capabilities?: object;
  readonly refuses?: boolean;
}

/** Serves the page of a client with MCP Apps and its sandbox, each from an origin of its own. */
export async function startViewHost(browser: Browser) {
  const script = await hostScript();
  const page = await serve({ '/': ['text/html', PAGE], '/host.js': ['text/javascript', script] });
  const sandbox = await serve({ '/': ['text/html', SANDBOX] }, { 'content-security-policy': SANDBOX_POLICY });
  return {
    open: (html: string, options?: ViewHostOptions) => openView(browser, [page.origin, sandbox.origin], html, options),
    async [Symbol.asyncDispose](): Promise<void> {
      await Promise.all([page.close(), sandbox.close()]);
    },
  };
}

async function openView(
  browser: Browser,
  origins: readonly [string, string],
  html: string,
  { theme = 'light', width = 800, capabilities = { openLinks: {} }, refuses = false }: ViewHostOptions = {},
) {
  const context = await browser.newContext({ viewport: { width, height: 900 }, reducedMotion: 'reduce' });
  const page = await context.newPage();
  const complaints: string[] = [];
  page.on('pageerror', (error) => complaints.push(error.message));
  page.on('dialog', (dialog) => complaints.push(`opened a dialog: ${dialog.message()}`));
  page.on('console', (message) => {
    if (['error', 'warning'].includes(message.type())) complaints.push(message.text());
  });
  page.on('request', (request) => {
    if (!origins.some((origin) => request.url().startsWith(`${origin}/`))) complaints.push(`asked ${request.url()}`);
  });
  const [own, sandbox] = origins;
  await page.goto(`${own}/`);
  const call = <R = void>(name: string, ...args: readonly unknown[]): Promise<R> =>
    page.evaluate(`host.${name}(${args.map((arg) => JSON.stringify(arg)).join(', ')})`);
  await call('show', { sandbox: `${sandbox}/`, html, theme, capabilities, refuses });
  return {
    page,
    complaints,
    view: page.frameLocator('iframe').frameLocator('iframe'),
    /** Runs in the view. */
    inView: <R>(script: string): Promise<R> => frameOf(page).evaluate(script),
    /** What axe finds in the view. */
    faults: () => faultsBy(frameOf(page)),
    call,
    /** As a client does: what a tool was called with, then what it answered. */
    async tell(args: object, answer: CallToolResult): Promise<void> {
      await call('input', args);
      await call('result', answer);
    },
    opened: () => page.evaluate<string[]>('host.opened'),
    heard: () => page.evaluate<string[]>('host.heard'),
    [Symbol.asyncDispose]: () => context.close(),
  };
}

export type ShownView = Awaited<ReturnType<typeof openView>>;

async function hostScript(): Promise<string> {
  const built = await build({
    configFile: false,
    logLevel: 'warn',
    build: { write: false, rolldownOptions: { input: path.join(import.meta.dirname, 'view-host-page.js') } },
  });
  const { output } = built as Rolldown.RolldownOutput;
  return output[0].code;
}

async function serve(files: Readonly<Record<string, readonly [string, string]>>, headers = {}) {
  const server = createServer((request, response) => {
    const [type, text] = files[request.url ?? ''] ?? [];
    if (type === undefined) return void response.writeHead(204).end();
    response.writeHead(200, { 'content-type': `${type}; charset=utf-8`, ...headers }).end(text);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    async close(): Promise<void> {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

/** That of the view: within the one of another origin. */
function frameOf(page: Page): Frame {
  const frame = page.frames().find((one) => one.parentFrame()?.parentFrame() === page.mainFrame());
  if (!frame) throw new Error('There is no view.');
  return frame;
}
