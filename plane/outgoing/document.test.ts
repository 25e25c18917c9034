import type { ServerResponse } from 'node:http';
import { expect, test } from 'vitest';
import { startReceiver } from '../../test/kits/http/receiver.ts';
import { buildFetchDocument, type DocumentOptions } from './document.ts';

const LOOPBACK = ['127.0.0.0/8'];

async function fetched(answer: (response: ServerResponse) => void, options: Partial<DocumentOptions> = {}) {
  await using receiver = await startReceiver(answer);
  const found = await buildFetchDocument({ allow: LOOPBACK, ...options })(
    `http://127.0.0.1:${receiver.port}/client.json`,
  );
  return { found, received: receiver.received.length };
}

test('a document is read with the time for which its server says that it holds', async () => {
  const { found } = await fetched((response) =>
    response.writeHead(200, { 'cache-control': 'public, max-age=90' }).end('{"client_name":"Planner"}'),
  );
  expect(found).toEqual({ json: { client_name: 'Planner' }, freshMs: 90_000 });
});

test('no address that is not on the internet is asked unless it is allowed, whatever the name', async () => {
  const { found, received } = await fetched((response) => response.end('{}'), { allow: [] });
  expect([found, received]).toEqual([expect.any(String), 0]);
  const fetchDocument = buildFetchDocument({ allow: [], resolve: async () => ['203.0.114.7', '169.254.169.254'] });
  expect(await fetchDocument('https://rebound.example/client.json')).toMatch(/not on the internet/);
});

test.each<[string, (response: ServerResponse) => void, RegExp]>([
  ['that leads elsewhere', (response) => response.writeHead(302, { location: '/other' }).end(), /status 302/],
  ['that is not there', (response) => response.writeHead(404).end('{}'), /status 404/],
  ['that is too long', (response) => response.end(`{"a":"${'x'.repeat(100_000)}"}`), /more than/],
  ['that never ends', (response) => response.write('{'), /no answer within/],
  ['that is no JSON', (response) => response.end('<html>'), /not JSON/],
])('a document %s is refused after one request', async (_what, answer, reason) => {
  const { found, received } = await fetched(answer, { limits: { totalMs: 500 } });
  expect([found, received]).toEqual([expect.stringMatching(reason), 1]);
});
