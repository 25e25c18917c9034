import { expect, test } from 'vitest';
import { KeyAllowance, LOST_KEYS_PER_HOUR } from '../core/model/key-allowance.ts';
import { NODE_JWT_MS } from '../net/bus/claims.ts';
import { nodeKeyOf } from '../net/bus/node-key.ts';
import { MAX_REVOCATIONS } from '../net/bus/revocations.ts';
import { freshKey } from '../test/kits/plane/devices.ts';
import { buildWorkspaceKit, refusalOf } from '../test/kits/plane/workspace-kit.ts';
import { startBusRevocations } from './bus-revocations.ts';

/** A workspace whose changes a bus is told of. */
async function told() {
  const kit = await buildWorkspaceKit();
  const heard: string[] = [];
  const names = new Map<string, string>();
  const nameOf = (user: string) => names.get(user) ?? 'unknown';
  const bus = {
    allow: (user: string) => void heard.push(`allow ${nameOf(user)}`),
    revoke: (user: string, until: number) => void heard.push(`revoke ${nameOf(user)} ${until - kit.clock.now()}`),
  };
  return {
    kit,
    start: () => startBusRevocations(kit.services, bus),
    /** What the key of a device at the bus is called in what is heard. */
    name(id: string, publicKey: string, name: string): void {
      const shared = kit.services.keys.agree(Buffer.from(publicKey, 'base64'));
      names.set(nodeKeyOf(shared, id).publicKey, name);
    },
    async join(name: string) {
      const { publicKey } = freshKey();
      const { id, self } = await kit.join(name, { publicKey });
      this.name(id, publicKey, name);
      return { id, self };
    },
    heard: () => heard.splice(0),
  };
}

test('a bus is told who lost its place by revocation, deletion or another key, and who got one', async () => {
  const { kit, start, heard, ...devices } = await told();
  await using _ = kit;
  const revocations = await start();
  const [a, b, c] = [await devices.join('a'), await devices.join('b'), await devices.join('c')];
  heard();
  await kit.ask('revoke_peer', { id: a.id });
  expect(heard()).toEqual([`revoke a ${NODE_JWT_MS}`]);
  await kit.ask('delete_peer', { id: b.id });
  expect(heard()).toEqual([`revoke b ${NODE_JWT_MS}`]);
  // It was revoked already.
  await kit.ask('delete_peer', { id: a.id });
  expect(heard()).toEqual([]);
  const { publicKey } = freshKey();
  devices.name(c.id, publicKey, 'c with another key');
  await kit.call('rotate_device_key', { publicKey }, c.self);
  expect(heard()).toEqual(['allow c with another key', `revoke c ${NODE_JWT_MS}`]);
  revocations.stop();
  await kit.ask('delete_peer', { id: c.id });
  expect(heard()).toEqual([]);
});

test('what changes nothing of the key is not told, and one that is renamed keeps its place', async () => {
  const { kit, start, heard, ...devices } = await told();
  await using _ = kit;
  await start();
  const { id } = await devices.join('a');
  heard();
  await kit.ask('update_peer', { id, name: 'a-2' });
  expect(heard().filter((line) => line.startsWith('revoke'))).toEqual([]);
});

test('a start tells of those who lost their place within a day before, as long as what they had lives', async () => {
  const { kit, start, heard, ...devices } = await told();
  await using _ = kit;
  const [a, b] = [await devices.join('a'), await devices.join('b')];
  await kit.ask('delete_peer', { id: a.id });
  kit.clock.time += NODE_JWT_MS;
  await kit.ask('delete_peer', { id: b.id });
  kit.clock.time += 1_000;
  await start();
  const lines = heard();
  expect(lines).toContain(`revoke b ${NODE_JWT_MS - 1_000}`);
  expect(lines.filter((line) => line.startsWith('revoke a '))).toEqual([]);
});

test('a workspace that lost too many places within an hour gets no other key, and loses places and acts as before', async () => {
  await using kit = await buildWorkspaceKit();
  const keyAllowance = new KeyAllowance();
  Object.assign(kit.services, { keyAllowance });
  await startBusRevocations(kit.services, { allow() {}, revoke() {} });
  const [a, b, c] = [await kit.join('a'), await kit.join('b'), await kit.join('c')];
  const { token } = await kit.ask('generate_join_token', { name: 'test', usageLimit: 100 });
  const join = (name: string, key = freshKey()) => refusalOrNone(kit.join(name, { token, key }));
  const rotate = (publicKey = freshKey().publicKey) =>
    refusalOrNone(kit.call('rotate_device_key', { publicKey }, a.self));
  // All that an hour allows but one.
  keyAllowance.lost(kit.workspace, LOST_KEYS_PER_HOUR - 1, kit.clock.now());
  await kit.ask('revoke_peer', { id: b.id });
  const key = freshKey();
  expect(await join('d', key)).toBe('none');
  await kit.ask('delete_peer', { id: c.id });
  expect([await join('e'), await rotate()]).toEqual(['rate_limited', 'rate_limited']);
  // What it has it keeps: the same device again, and a key that it has already.
  expect([await join('d', key), await rotate(a.key.publicKey)]).toEqual(['none', 'none']);
  kit.clock.time += 1_000;
  expect(await join('e')).toBe('none');
});

test('after a start the places that were lost before it count on', async () => {
  await using kit = await buildWorkspaceKit();
  const keyAllowance = new KeyAllowance();
  Object.assign(kit.services, { keyAllowance });
  const { id } = await kit.join('a');
  await kit.ask('delete_peer', { id });
  await startBusRevocations(kit.services, { allow() {}, revoke() {} });
  keyAllowance.lost(kit.workspace, LOST_KEYS_PER_HOUR, kit.clock.now());
  expect(await refusalOrNone(kit.join('b'))).toBe('rate_limited');
});

test('a place that was lost by a clock which was a day ahead costs no more than another one', async () => {
  await using kit = await buildWorkspaceKit();
  const keyAllowance = new KeyAllowance();
  Object.assign(kit.services, { keyAllowance });
  const { id } = await kit.join('a');
  kit.clock.time += 24 * 3_600_000;
  await kit.ask('delete_peer', { id });
  kit.clock.time -= 24 * 3_600_000;
  await startBusRevocations(kit.services, { allow() {}, revoke() {} });
  expect(await refusalOrNone(kit.join('b'))).toBe('none');
});

test('no workspace fills what the servers of a bus are told of by itself within an hour', () => {
  expect(LOST_KEYS_PER_HOUR).toBeLessThanOrEqual(MAX_REVOCATIONS / 2);
});

function refusalOrNone(work: Promise<unknown>): Promise<string> {
  return work.then(
    () => 'none',
    (error: unknown) => refusalOf(Promise.reject(error)),
  );
}
