import { expect, test } from 'vitest';
import { buildParts } from './parts.ts';

function logged() {
  const lines: unknown[] = [];
  return { lines, log: { error: (fields: object) => void lines.push(fields) } };
}

test('parts stop once, in the reverse of the order in which they started', async () => {
  const parts = buildParts(logged().log);
  const stopped: string[] = [];
  for (const name of ['store', 'jobs', 'API']) {
    const part = { stop: async () => void stopped.push(name) };
    expect(parts.use(name, part)).toBe(part);
  }
  await Promise.all([parts.stop(), parts.stop()]);
  expect(stopped).toEqual(['API', 'jobs', 'store']);
});

test('a part that does not stop keeps no other from it, and the first failure is thrown once all have stopped', async () => {
  const { lines, log } = logged();
  const parts = buildParts(log);
  const stopped: string[] = [];
  parts.onStop('store', () => void stopped.push('store'));
  parts.onStop('jobs', () => Promise.reject(new Error('of the jobs')));
  parts.onStop('API', () => {
    throw new Error('of the API');
  });
  await expect(parts.stop()).rejects.toThrow('of the API');
  expect(stopped).toEqual(['store']);
  expect(lines).toMatchObject([{ part: 'API' }, { part: 'jobs', err: new Error('of the jobs') }]);
});

test('what a start that failed leaves is stopped, and a failure of that takes the place of no other', async () => {
  const { lines, log } = logged();
  const parts = buildParts(log);
  parts.onStop('store', () => Promise.reject(new Error('of the store')));
  await expect(parts.abandon()).resolves.toBeUndefined();
  expect(lines).toMatchObject([{ part: 'store' }]);
});

test('a part that does not stop in time is left behind', async () => {
  const parts = buildParts(logged().log, 1);
  const stopped: string[] = [];
  parts.onStop('store', () => void stopped.push('store'));
  parts.onStop('bus', () => new Promise(() => undefined));
  await parts.stop();
  expect(stopped).toEqual(['store']);
});
