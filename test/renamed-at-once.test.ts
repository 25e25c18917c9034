import { expect, test } from 'vitest';
import { changesAmong } from '../core/compliance/changes.ts';
import { networkMoments } from '../core/history/network-moments.ts';
import { buildHistoryKit } from './kits/plane/history-kit.ts';

/** Name and labels of a peer in one revision: it is deleted and made again, and whoever reads the past knows it as the same. */
async function renamedAndRelabelled() {
  const kit = await buildHistoryKit({ now: Date.UTC(2026, 0, 5, 12) });
  for (const role of ['web', 'db']) await kit.join(`${role}-1`, { role });
  const web = { peerSelector: { matchLabels: { role: 'web' } } };
  const spec = { action: 'ALLOW', peerSelector: { matchLabels: { role: 'db' } }, ingress: [{ from: [web] }] };
  await kit.ask('create_policy', { name: 'web-to-db', spec });
  await kit.pass(60_000);
  const before = await kit.services.store.revision(kit.workspace);
  await kit.ask('update_peer', { id: 'web-1', name: 'web-9', labels: { role: 'bot' } });
  await kit.pass(60_000);
  return { kit, before };
}

const BACK = { action: 'update', resource: 'MeshPeer', name: 'web-9', after: expect.stringContaining('role: web') };
const FROM = '2026-01-05T12:00:30.000Z';

test('labels that were written with another name are taken back alone, as the last change, and with the whole network', async () => {
  const { kit, before } = await renamedAndRelabelled();
  await using _ = kit;
  for (const what of [{}, { undo_revision: before + 1 }, { revision: before }]) {
    expect((await kit.ask('revert_network_change', what)).changes).toMatchObject([BACK]);
  }
  await kit.ask('update_peer', { id: 'web-9', name: 'web-10' });
  const later = await kit.ask('revert_network_change', { undo_revision: before + 1 });
  expect(later.changes).toMatchObject([{ ...BACK, name: 'web-10' }]);
});

test('labels that were written with another name are a change of the network to auditors, and have a snapshot', async () => {
  const { kit, before } = await renamedAndRelabelled();
  await using _ = kit;
  await kit.ask('update_peer', { id: 'web-9', name: 'web-10' });
  await kit.pass(60_000);
  const range = { first: before, last: await kit.services.store.revision(kit.workspace), since: 0, to: kit.clock.time };
  const { steps } = await networkMoments(kit.services, kit.workspace, range);
  const found = await changesAmong(kit.services, kit.workspace, steps, range);
  expect(found).toMatchObject([{ revision: before + 1, resources: ['updated MeshPeer/web-9'], isDirect: true }]);
  const { items } = await kit.ask('list_snapshots', { trigger_type: 'policy_change' });
  // That of the policy is the other one: a name alone is no change of the network.
  expect(items).toMatchObject([{ revision: before + 1 }, {}]);
});

test('a connection that was lost by labels which were written with another name is found, and has a plan that brings it back', async () => {
  const { kit, before } = await renamedAndRelabelled();
  await using _ = kit;
  const { findings } = await kit.ask('find_cause', { src: 'web-9', dst: 'db-1', from: FROM });
  expect(findings).toMatchObject([
    {
      causes: [{ cause: 'label', kind: 'MeshPeer', name: 'web-9' }],
      change: { revision: before + 1 },
      no_restore: null,
    },
  ]);
  expect(findings[0].change.changed).toMatchObject([
    {
      type: 'updated',
      name: 'web-9',
      paths: expect.arrayContaining([expect.objectContaining({ path: '/metadata/labels/role' })]),
    },
  ]);
  expect(findings[0].restore.verified).toBe(true);
});

test.each([
  ["who changed web-9's labels?", 'web-9 got other labels: role is "bot" and was "web"'],
  ['who renamed web-9?', 'web-1 was renamed to web-9'],
])('what was done to a peer at once is told by its part: %s', async (question, said) => {
  const { kit } = await renamedAndRelabelled();
  await using _ = kit;
  expect((await kit.ask('find_cause', { question, from: FROM })).summary).toContain(said);
});
