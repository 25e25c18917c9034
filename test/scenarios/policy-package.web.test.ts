import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import path from 'node:path';
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startFilesExample } from '../kits/http/files-example.ts';
import { installPackage } from '../kits/process/installed-package.ts';
import { blocksOf } from '../kits/process/page-blocks.ts';
import { hasBrowser, launchBrowser } from '../kits/web/dashboard.ts';

const PACKING_MS = 180_000;
const [EXAMPLE] = blocksOf('packages/policy/README.md').filter(({ language }) => language === 'js');
/** As strict as a page may ask for: the code of this origin alone, and none that is made from text. */
const CONTENT_POLICY = "default-src 'none'; script-src 'self'; connect-src 'self'";

let browser: Browser;
beforeAll(async () => {
  browser = await launchBrowser();
});
afterAll(() => browser?.close());

/** The program of the README, whose files are on the server and whose words go into the page. */
const program = (text: string) => `
  const read = async (file) => (await fetch(file)).text();
  const files = { 'network.yaml': await read('/network.yaml'), 'change.yaml': await read('/change.yaml') };
  const [readFileSync, process, shown] = [(file) => files[file], {}, []];
  const console = { log: (line) => shown.push(line + '\\n') };
  ${text.replace("import { readFileSync } from 'node:fs';", '').replace("'@scope/mesh-policy'", "'/policy.js'")}
  document.body.textContent = shown.join('');
  document.title = String(process.exitCode ?? 'done');
`;

describe.skipIf(!hasBrowser)('the package of the policy engine in a browser', () => {
  test(
    'answers as under Node, below a content security policy that refuses code from text',
    async () => {
      using installed = installPackage('policy');
      const { harness, network, change } = await startFilesExample();
      await harness[Symbol.asyncDispose]();
      const files: Readonly<Record<string, readonly [type: string, text: string]>> = {
        '/': [
          'text/html',
          '<!doctype html><title>Policy</title><body></body><script type="module" src="/program.js"></script>',
        ],
        '/program.js': ['text/javascript', program(EXAMPLE?.text ?? '')],
        '/policy.js': [
          'text/javascript',
          readFileSync(path.join(installed.modules, '@scope/mesh-policy/dist/index.js'), 'utf8'),
        ],
        '/network.yaml': ['text/plain', network],
        '/change.yaml': ['text/plain', change],
      };
      const server = createServer((request, response) => {
        const [type, text] = files[request.url ?? ''] ?? ['text/plain', ''];
        response.writeHead(200, { 'content-type': type, 'content-security-policy': CONTENT_POLICY }).end(text);
      });
      server.listen(0, '127.0.0.1');
      await once(server, 'listening');
      const page = await browser.newPage();
      try {
        await page.goto(`http://127.0.0.1:${(server.address() as AddressInfo).port}/`);
        await expect.poll(() => page.title()).toBe('done');
        expect(await page.evaluate('document.body.textContent')).toBe(EXAMPLE?.shows);
      } finally {
        await page.close();
        server.closeAllConnections();
        server.close();
      }
    },
    PACKING_MS,
  );
});
