import { expect, test } from 'vitest';
import { CONTEXT } from '../../test/kits/plane/identity-kit.ts';
import { buildWorkspaceKit } from '../../test/kits/plane/workspace-kit.ts';
import { SYSTEM_WORKSPACE } from '../base/ids.ts';
import { emptyIfGone } from './empty-workspace.ts';

const HOUR_MS = 3_600_000;

/** A workspace with a device, which registered as the workspace was deleted. */
async function buildLateKit() {
  const kit = await buildWorkspaceKit();
  const { store } = kit.services;
  await kit.ask('set_member', { username: 'vic', role: 'viewer' });
  await kit.join('web-1');
  const seen = async () => {
    const { peers, networks } = await kit.services.states.current(kit.workspace);
    const [tokens, members] = [await store.list(kit.workspace, 'Token'), await store.list(kit.workspace, 'Member')];
    const resting = await store.list(kit.workspace, 'AddressRest');
    return [peers.size, networks.size, tokens.items.length, members.items.length, resting.items.length];
  };
  return {
    ...kit,
    seen,
    forget: () => store.commit(SYSTEM_WORKSPACE, [{ op: 'delete', key: { kind: 'Workspace', name: 'own' } }], CONTEXT),
  };
}

test('a workspace that nobody can name loses its devices, tokens and members, and its addresses rest', async () => {
  await using kit = await buildLateKit();
  expect(await kit.seen()).toEqual([1, 1, 2, 1, 0]);
  await kit.forget();
  kit.clock.time += HOUR_MS;
  await emptyIfGone(kit.services, kit.workspace);
  expect(await kit.seen()).toEqual([0, 0, 0, 0, 1]);
});

test('one that is younger than an hour may be about to be named, and stays as it is', async () => {
  await using kit = await buildLateKit();
  await kit.forget();
  kit.clock.time += HOUR_MS - 1;
  await emptyIfGone(kit.services, kit.workspace);
  expect(await kit.seen()).toEqual([1, 1, 2, 1, 0]);
});

test('one that is in the directory stays as it is', async () => {
  await using kit = await buildLateKit();
  kit.clock.time += HOUR_MS;
  await emptyIfGone(kit.services, kit.workspace);
  expect(await kit.seen()).toEqual([1, 1, 2, 1, 0]);
});
