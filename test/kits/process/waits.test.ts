import { expect, test } from 'vitest';
import { buildWaits } from './waits.ts';

test('what is so between two messages that come together is seen', async () => {
  const { changed, until } = buildWaits();
  let message = 0;
  const seen = until(() => message === 1);
  for (message = 1; message < 3; message += 1) changed();
  await seen;
  expect(message).toBe(3);
});

test('what is so only once who tells of it has gone on is seen', async () => {
  const { changed, until } = buildWaits();
  let isUp = false;
  const seen = until(() => isUp);
  changed();
  isUp = true;
  await seen;
});
