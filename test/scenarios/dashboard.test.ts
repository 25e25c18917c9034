import { readdirSync } from 'node:fs';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Harness, startHarness } from '../kits/http/harness.ts';

const WEB = path.resolve(import.meta.dirname, '../../web');
const SCRIPTS = readdirSync(WEB).filter((file) => file.endsWith('.js'));

describe('the dashboard', () => {
  let harness: Harness;
  beforeAll(async () => {
    harness = await startHarness();
  });
  afterAll(() => harness[Symbol.asyncDispose]());

  test.each([
    ['/', 'text/html; charset=utf-8'],
    ...SCRIPTS.map((file): [string, string] => [`/${file}`, 'text/javascript; charset=utf-8']),
    ['/style.css', 'text/css; charset=utf-8'],
  ])('answers %s as %s, under a policy that lets no foreign and no inline script run', async (route, type) => {
    const { status, headers, text } = await harness.api('GET', route);
    expect([status, headers.get('content-type'), headers.get('cache-control')]).toEqual([200, type, 'no-cache']);
    expect(headers.get('content-security-policy')).toContain("script-src 'self';script-src-attr 'none'");
    expect(headers.get('x-content-type-options')).toBe('nosniff');
    expect(text.length).toBe(Number(headers.get('content-length')));
  });

  test('is not sent again to a browser that has it', async () => {
    const { headers } = await harness.api('GET', '/app.js');
    const known = { 'if-none-match': headers.get('etag') ?? '', 'cache-control': 'max-age=0' };
    const again = await harness.api('GET', '/app.js', { headers: known });
    expect([again.status, again.text]).toEqual([304, '']);
    const other = await harness.api('GET', '/style.css', { headers: known });
    expect(other.status).toBe(200);
  });

  test('answers a HEAD like a GET without its body', async () => {
    const [get, head] = [await harness.api('GET', '/'), await harness.api('HEAD', '/')];
    expect([head.status, head.headers.get('content-length'), head.text]).toEqual([200, String(get.text.length), '']);
  });

  test.each([
    '/index.html',
    '/web/app.js',
    '/app.js/',
    '/APP.JS',
    '/..%2fpackage.json',
    '/%2e%2e/package.json',
    '//app.js',
    '/favicon.ico',
  ])('leaves %s a problem', async (route) => {
    const { status, body } = await harness.api('GET', `${harness.url}${route}`);
    expect([status, body.code]).toEqual([404, 'not_found']);
  });

  test.each(['POST', 'PUT', 'DELETE'])('refuses a %s', async (method) => {
    const { status, headers, body } = await harness.api(method, '/', { body: {} });
    expect([status, headers.get('allow'), body.code]).toEqual([405, 'GET, HEAD', 'method_not_allowed']);
  });

  test.each(SCRIPTS)('%s sets what it shows as text alone, and takes no script that is not there', async (file) => {
    const { text } = await harness.api('GET', `/${file}`);
    expect(text).not.toMatch(/innerHTML|outerHTML|insertAdjacentHTML|document\.write|setHTML|\beval\b|\bimport\b\s*\(/);
    const imported = [...text.matchAll(/^(?:import|export) .*?from '(.*)';$/gm)].map(([, from]) => from);
    expect(SCRIPTS.map((name) => `./${name}`)).toEqual(expect.arrayContaining(imported));
    expect(text.match(/^import\b/gm) ?? []).toHaveLength(imported.length);
  });
});
