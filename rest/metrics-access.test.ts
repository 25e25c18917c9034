import express from 'express';
import { expect, test } from 'vitest';
import { listen } from './listen.ts';
import { serveMetrics } from './metrics-access.ts';

test('metrics are made once a second, however many ask, and anew where they could not be', async () => {
  let [now, made] = [0, 0];
  const render = async () => {
    made += 1;
    if (made === 2) throw new Error('no');
    return `made ${made}\n`;
  };
  const app = express().get(
    '/metrics',
    serveMetrics({ render }, 'open', () => now),
  );
  app.use((_error: unknown, _request: express.Request, response: express.Response, _next: () => void) => {
    response.status(500).send('failed');
  });
  const listening = await listen(app, { host: '127.0.0.1', port: 0 });
  const ask = async () => (await fetch(`${listening.url}/metrics`)).text();
  expect(new Set(await Promise.all([ask(), ask(), ask()]))).toEqual(new Set(['made 1\n']));
  now = 999;
  expect(await ask()).toBe('made 1\n');
  now = 1_000;
  expect([await ask(), await ask()]).toEqual(['failed', 'made 3\n']);
  await listening.stop();
});
