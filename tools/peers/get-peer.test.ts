import { expect, test } from 'vitest';
import { buildWorkspaceKit, refusalOf } from '../../test/kits/plane/workspace-kit.ts';

test('a peer is found by id, name and address, with its labels and phase', async () => {
  await using kit = await buildWorkspaceKit();
  const { id, address } = await kit.join('web-1');
  for (const given of [id, 'WEB-1', address]) {
    expect(await kit.ask('get_peer', { id: given })).toMatchObject({
      id,
      name: 'web-1',
      status: { phase: 'ready', address },
    });
  }
});

test('a peer of another workspace is unknown, and reading one needs network:read', async () => {
  await using kit = await buildWorkspaceKit();
  const { id } = await kit.join('web-1');
  expect(await refusalOf(kit.foreign('get_peer', { id }))).toBe('not_found');
  expect(await refusalOf(kit.ask('get_peer', { id: 'db-1' }))).toBe('not_found');
  expect(await refusalOf(kit.holding()('get_peer', { id }))).toBe('forbidden network:read');
});
