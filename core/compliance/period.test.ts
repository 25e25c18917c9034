import { expect, test } from 'vitest';
import { buildWorkspaceKit } from '../../test/kits/plane/workspace-kit.ts';
import { formatInstant } from '../base/time.ts';
import { periodOf } from './period.ts';

const HOUR_MS = 3_600_000;

test('of the moment between the first record of a workspace and the workspace itself nothing is judged', async () => {
  await using kit = await buildWorkspaceKit();
  const { store } = kit.services;
  const began = kit.clock.time;
  kit.clock.time += HOUR_MS;
  // As where what is in a workspace was written 12 ms before its own record.
  const later = {
    ...store,
    getById: async (...asked: Parameters<typeof store.getById>) => {
      const record = await store.getById(...asked);
      return record && { ...record, createdAt: record.createdAt + 12 };
    },
  } as typeof store;
  const services = { store: later, clock: kit.services.clock };
  const asked = { from: formatInstant(began - HOUR_MS), to: formatInstant(kit.clock.time) };
  expect((await periodOf(services, kit.workspace, asked)).range).toMatchObject({ since: began + 12 });
  const before = { from: formatInstant(began - HOUR_MS), to: formatInstant(began + 11) };
  expect((await periodOf(services, kit.workspace, before)).range).toBeUndefined();
});
