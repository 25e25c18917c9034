import { readdirSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Harness, startHarness } from '../kits/http/harness.ts';

const ASSETS = readdirSync(path.resolve(import.meta.dirname, '../../web/dist/assets'));
const SCRIPTS = ASSETS.filter((file) => file.endsWith('.js'));
const [SCRIPT = ''] = SCRIPTS;

const TYPES: Readonly<Record<string, string>> = {
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.woff2': 'font/woff2',
};

describe('the dashboard', () => {
  let harness: Harness;
  beforeAll(async () => {
    harness = await startHarness();
  });
  afterAll(() => harness[Symbol.asyncDispose]());

  test.each([
    ['/', 'text/html; charset=utf-8', 'no-cache'],
    ...ASSETS.map((file): [string, string, string] => [
      `/assets/${file}`,
      TYPES[path.extname(file)] ?? '',
      'public, max-age=31536000, immutable',
    ]),
  ])(
    'answers %s as %s, under a policy that lets no foreign and no inline script or style in',
    async (route, type, cache) => {
      const { status, headers } = await harness.api('GET', route);
      expect([status, headers.get('content-type'), headers.get('cache-control')]).toEqual([200, type, cache]);
      const policy = headers.get('content-security-policy') ?? '';
      expect(policy).toContain("script-src 'self';script-src-attr 'none'");
      expect(policy).toContain("style-src 'self'");
      expect(policy).toContain("require-trusted-types-for 'script';trusted-types 'none'");
      expect(policy).not.toContain('unsafe');
      expect(headers.get('x-content-type-options')).toBe('nosniff');
    },
  );

  test.each([
    ['/docs', 'text/html; charset=utf-8'],
    ['/docs/', 'text/html; charset=utf-8'],
    ['/docs/policy', 'text/html; charset=utf-8'],
    ['/docs/decisions', 'text/html; charset=utf-8'],
    ['/docs/contributing/first-hour', 'text/html; charset=utf-8'],
    ['/docs/screens/review-light.webp', 'image/webp'],
  ])('answers %s of the documentation as %s, under the same policy, to anyone', async (route, type) => {
    const { status, headers } = await harness.api('GET', route);
    expect([status, headers.get('content-type'), headers.get('cache-control')]).toEqual([200, type, 'no-cache']);
    expect(headers.get('content-security-policy')).toContain("script-src 'self';script-src-attr 'none'");
  });

  test.each(['/docs/nothing', '/docs/policy.md', '/docs/404', '/docs/..%2fpackage.json'])(
    'answers %s with a page that says that there is no such page',
    async (route) => {
      const { status, headers, text } = await harness.api('GET', `${harness.url}${route}`);
      expect([status, headers.get('content-type')]).toEqual([404, 'text/html; charset=utf-8']);
      expect(text).toContain('<h1>No such page</h1>');
      const known = { 'if-none-match': headers.get('etag') ?? '', 'cache-control': 'max-age=0' };
      expect((await harness.api('GET', `${harness.url}${route}`, { headers: known })).status).toBe(404);
    },
  );

  test('is not sent again to a browser that has it', async () => {
    const { headers } = await harness.api('GET', '/');
    const known = { 'if-none-match': headers.get('etag') ?? '', 'cache-control': 'max-age=0' };
    const again = await harness.api('GET', '/', { headers: known });
    expect([again.status, again.text]).toEqual([304, '']);
    const other = await harness.api('GET', `/assets/${SCRIPT}`, { headers: known });
    expect(other.status).toBe(200);
  });

  test.each(['br', 'gzip', 'identity'])('is sent as %s to who takes that', async (encoding) => {
    const response = await fetch(`${harness.url}/assets/${SCRIPT}`, { headers: { 'accept-encoding': encoding } });
    const plain = await readFile(path.resolve(import.meta.dirname, '../../web/dist/assets', SCRIPT), 'utf8');
    expect([await response.text(), response.headers.get('content-encoding') ?? 'identity']).toEqual([plain, encoding]);
  });

  test('answers a HEAD like a GET without its body', async () => {
    const plain = { headers: { 'accept-encoding': 'identity' } };
    const [get, head] = [await harness.api('GET', '/', plain), await harness.api('HEAD', '/', plain)];
    expect([head.status, head.headers.get('content-length'), head.text]).toEqual([200, String(get.text.length), '']);
  });

  test.each([
    '/index.html',
    '/web/dist/index.html',
    '/assets/',
    '/assets/../index.html',
    '/ASSETS/index.js',
    '/..%2fpackage.json',
    '/%2e%2e/package.json',
    '//assets/index.js',
    '/favicon.ico',
  ])('leaves %s a problem', async (route) => {
    const { status, body } = await harness.api('GET', `${harness.url}${route}`);
    expect([status, body.code]).toEqual([404, 'not_found']);
  });

  test.each(['POST', 'PUT', 'DELETE'])('refuses a %s', async (method) => {
    const { status, headers, body } = await harness.api(method, '/', { body: {} });
    expect([status, headers.get('allow'), body.code]).toEqual([405, 'GET, HEAD', 'method_not_allowed']);
  });

  test('is asked for by names that its own page knows', async () => {
    const { text } = await harness.api('GET', '/');
    const named = [...text.matchAll(/(?:src|href)="\/assets\/([^"]+)"/g)].map(([, name]) => name);
    expect(named.length).toBeGreaterThan(2);
    expect(ASSETS).toEqual(expect.arrayContaining(named));
  });
});
