import { expect, test } from 'vitest';
import { buildWorkspaceKit } from '../../test/kits/plane/workspace-kit.ts';
import { livePeers } from '../views/peer-view.ts';
import { openPaths } from './path-counts.ts';

test('open paths are counted once until a node reports, another peer is there, or one has ended', async () => {
  await using kit = await buildWorkspaceKit();
  const { services, workspace, clock } = kit;
  const [web, db] = [await kit.join('web-1'), await kit.join('db-1')];
  const path = { since: '2026-01-05T12:00:00.000Z', reason: 'lan', transport: 'ice-ready', path: 'direct' } as const;
  const report = (from: string, to: string) => services.paths.report(workspace, from, [{ ...path, peer: to }]);
  const counted = async (gone = '') => {
    const state = await services.states.current(workspace);
    const live = livePeers(state, clock.time).filter(({ uid }) => uid !== gone);
    return openPaths(state, live, services.paths);
  };
  report(web.id, db.id);
  const first = await counted();
  expect(first).toEqual({ direct: 1, relayed: 0 });
  expect(await counted()).toBe(first);
  report(db.id, web.id);
  expect(await counted()).toEqual({ direct: 2, relayed: 0 });
  expect(await counted(db.id)).toEqual({ direct: 0, relayed: 0 });
  const cache = await kit.join('cache');
  report(web.id, cache.id);
  expect(await counted()).toEqual({ direct: 3, relayed: 0 });
});
