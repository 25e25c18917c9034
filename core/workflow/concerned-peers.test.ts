import { expect, test } from 'vitest';
import { freshKey, oldKeyProofOf } from '../../test/kits/plane/devices.ts';
import { buildWorkspaceKit } from '../../test/kits/plane/workspace-kit.ts';

/** Two laptops that swapped their names before writes needed approval. */
async function swapped() {
  const kit = await buildWorkspaceKit();
  const [ceo, evil] = [await kit.join('ceo-laptop'), await kit.join('evil')];
  await kit.join('db-1');
  await kit.ask('update_peer', { id: ceo.id, name: 'tmp-1' });
  await kit.ask('update_peer', { id: evil.id, name: 'ceo-laptop' });
  await kit.ask('update_workspace', { settings: { requireApproval: true } });
  return Object.assign(kit, { ceo, evil });
}

const TO_DB = {
  name: 'to-db',
  spec: {
    action: 'ALLOW',
    peerSelector: { peers: ['db-1'] },
    ingress: [{ from: [{ peerSelector: { peers: ['ceo-laptop'] } }] }],
  },
};

test('who approves a policy sees which device bears each name in it, and since when', async () => {
  await using kit = await swapped();
  const { workflow_id: id } = await kit.as('operator')('create_policy', TO_DB);
  const { peers, diffMarkdown } = await kit.ask('get_workflow', { id });
  const { id: uid, key } = kit.evil;
  const at = '2026-01-05T12:00:00.000Z';
  expect(peers[0]).toEqual({
    id: uid,
    name: 'ceo-laptop',
    publicKey: key.publicKey,
    createdAt: at,
    renames: [`evil until ${at}`],
  });
  const line = `- \`ceo-laptop\` (${uid}): key \`${key.publicKey}\`, registered ${at}; was evil until ${at}`;
  expect(diffMarkdown).toContain(line);
  expect(peers.map(({ name }: { name: string }) => name)).toContain('db-1');
});

test('who approves a call sees the peer that it writes, with the key that it has now', async () => {
  await using kit = await swapped();
  const { workflow_id: id } = await kit.as('operator')('update_peer', { id: 'ceo-laptop', name: 'desk' });
  const { publicKey } = freshKey();
  const oldKeyProof = oldKeyProofOf(kit.evil.key, kit.evil.id, publicKey, kit.services.keys.controlKey);
  await kit.call('rotate_device_key', { publicKey, oldKeyProof }, kit.evil.self);
  const { peers } = await kit.ask('get_workflow', { id });
  expect(peers).toMatchObject([
    { id: kit.evil.id, name: 'ceo-laptop', publicKey, renames: [expect.stringMatching(/^evil until /)] },
  ]);
});

test('renames are shown for 30 days, and the newest ten', async () => {
  await using kit = await buildWorkspaceKit();
  const { id: uid } = await kit.join('n-0');
  for (let count = 1; count <= 12; count += 1) await kit.ask('update_peer', { id: uid, name: `n-${count}` });
  await kit.ask('update_workspace', { settings: { requireApproval: true } });
  const { workflow_id: id } = await kit.as('operator')('delete_peer', { id: uid });
  const shown = async () => {
    const [{ renames }] = (await kit.ask('get_workflow', { id })).peers;
    return renames.map((rename: string) => rename.split(' ')[0]);
  };
  expect(await shown()).toEqual(Array.from({ length: 10 }, (_, index) => `n-${index + 2}`));
  kit.clock.time += 30 * 24 * 3_600_000;
  expect(await shown()).toEqual([]);
});
