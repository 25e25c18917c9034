import { expect, test } from 'vitest';
import { MeshError } from '../base/errors.ts';
import { buildAccessWatch } from './access-watch.ts';

test('other control planes are heard before an event only where somebody listens', async () => {
  let heard = 0;
  const access = buildAccessWatch({
    authenticate: async () => {
      throw new MeshError('unauthenticated', 'Sign in again.');
    },
    caughtUp: async () => {
      heard += 1;
    },
    services: { store: { onCommit: () => () => undefined } },
  });
  await access.settled();
  expect(heard).toBe(0);
  const { promise: ended, resolve: end } = Promise.withResolvers<MeshError>();
  access.add({ bearer: 'a', origin: 'b', check: () => undefined, end });
  await access.settled();
  expect(heard).toBe(1);
  expect((await ended).code).toBe('unauthenticated');
});
