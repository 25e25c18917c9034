import { expect, test } from 'vitest';
import { buildWorkspaceKit, refusalOf } from '../../test/kits/plane/workspace-kit.ts';

test('the paths that a device reported last are shown with the names of the other peers', async () => {
  await using kit = await buildWorkspaceKit();
  const { self } = await kit.join('web-1');
  const { id: peer } = await kit.join('db-1');
  const report = { transport: 'ice-ready', path: 'direct', reason: 'connected', since: '2026-01-05T12:00:00Z' };
  await kit.call(
    'send_heartbeat',
    {
      paths: [
        { ...report, peer },
        { ...report, peer: 'p_gone' },
      ],
    },
    self,
  );
  expect(await kit.ask('get_peer_paths', { id: 'web-1' })).toEqual({ items: [{ ...report, peer, name: 'db-1' }] });
  expect(await kit.ask('get_peer_paths', { id: 'db-1' })).toEqual({ items: [] });
});

test('paths of a peer of another workspace are unknown, and need network:read', async () => {
  await using kit = await buildWorkspaceKit();
  const { id } = await kit.join('web-1');
  expect(await refusalOf(kit.foreign('get_peer_paths', { id }))).toBe('not_found');
  expect(await refusalOf(kit.holding()('get_peer_paths', { id }))).toBe('forbidden network:read');
});
