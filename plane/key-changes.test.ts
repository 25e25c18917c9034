import { expect, test } from 'vitest';
import { draftOf } from '../core/base/record.ts';
import type { Member } from '../net/relay/member.ts';
import { freshKey } from '../test/kits/plane/devices.ts';
import { buildWorkspaceKit } from '../test/kits/plane/workspace-kit.ts';
import { startRelayRevocations } from './relay-revocations.ts';

const HOUR_MS = 3_600_000;

/** A relay as it stands after all that it was told. */
function relay() {
  const refused = new Set<string>();
  const keyOf = ({ publicKey }: Member) => Buffer.from(publicKey).toString('base64');
  return {
    refused,
    allow: (member: Member) => void refused.delete(keyOf(member)),
    revoke: (member: Member) => void refused.add(keyOf(member)),
  };
}

test('a relay that starts late refuses whom one refuses that was there all day, whatever became of peers, names and keys', async () => {
  await using kit = await buildWorkspaceKit();
  const early = relay();
  const watching = await startRelayRevocations(kit.services, early);
  const keys = {} as Record<'a' | 'again' | 'b' | 'c' | 'd' | 'e' | 'f', ReturnType<typeof freshKey>>;
  for (const name of ['a', 'again', 'b', 'c', 'd', 'e', 'f'] as const) keys[name] = freshKey();
  const join = (name: string, { publicKey }: { readonly publicKey: string }) => kit.join(name, { publicKey });
  const [a, b, c, d, e] = [
    await join('a', keys.a),
    await join('b', keys.b),
    await join('c', keys.c),
    await join('d', keys.d),
    await join('e', keys.e),
  ];
  kit.clock.time += 30 * HOUR_MS;
  for (const label of ['x', 'y', 'z']) await kit.ask('update_peer', { id: a.id, labels: { label } });
  await kit.call('rotate_device_key', { publicKey: freshKey().publicKey }, c.self);
  await kit.ask('revoke_peer', { id: d.id });
  await kit.ask('delete_peer', { id: b.id });
  // One name with another key, and one key with another name.
  await join('b', keys.again);
  await kit.ask('delete_peer', { id: e.id });
  await join('e-2', keys.e);
  const f = await join('f', keys.f);
  await kit.ask('update_peer', { id: f.id, name: 'f-2' });
  const gone = await join('short', freshKey());
  await kit.ask('delete_peer', { id: gone.id });
  const late = relay();
  (await startRelayRevocations(kit.services, late)).stop();
  watching.stop();
  expect(late.refused).toEqual(early.refused);
  expect(late.refused.size).toBe(4);
});

test('a key that 0.1.0 changed, without noting when, is refused too', async () => {
  await using kit = await buildWorkspaceKit();
  const old = freshKey();
  const { id, self } = await kit.join('a', { publicKey: old.publicKey });
  kit.clock.time += 30 * HOUR_MS;
  await kit.call('rotate_device_key', { publicKey: freshKey().publicKey }, self);
  const { store } = kit.services;
  const record = await store.getById(kit.workspace, 'MeshPeer', id);
  if (!record) throw new Error('the peer is gone');
  const { keySince: _, ...status } = record.status;
  const op = { op: 'update', record: { ...draftOf(record), status }, revision: record.revision } as const;
  await store.commit(kit.workspace, [op], { actor: 'system:test', reason: 'as 0.1.0', requestId: 'r' });
  const told = relay();
  (await startRelayRevocations(kit.services, told)).stop();
  expect([...told.refused]).toEqual([old.publicKey]);
});

test('what happens while the past is read is told after it', async () => {
  await using kit = await buildWorkspaceKit();
  const { id } = await kit.join('a');
  await kit.ask('delete_peer', { id });
  const { store } = kit.services;
  const { publicKey } = freshKey();
  const told = relay();
  let isFirst = true;
  const services = {
    ...kit.services,
    store: {
      ...store,
      async history(...args: Parameters<typeof store.history>) {
        const found = await store.history(...args);
        if (isFirst) {
          isFirst = false;
          const joined = await kit.join('b', { publicKey });
          await kit.ask('delete_peer', { id: joined.id });
        }
        return found;
      },
    },
  } as typeof kit.services;
  (await startRelayRevocations(services, told)).stop();
  expect([told.refused.size, told.refused.has(publicKey)]).toEqual([2, true]);
});
