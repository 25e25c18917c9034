import { describe, expect, test } from 'vitest';
import { buildWorkspaceKit, refusalOf } from '../../test/kits/plane/workspace-kit.ts';

const ONLY_WEB = {
  name: 'web-to-db',
  spec: {
    action: 'ALLOW',
    peerSelector: { matchLabels: { role: 'db' } },
    ingress: [{ from: [{ peerSelector: { matchLabels: { role: 'web' } } }] }],
  },
};
const OPEN_TO_ALL = {
  name: 'open',
  spec: { action: 'ALLOW', peerSelector: { matchLabels: { role: 'db' } }, ingress: [{}] },
};
const BROKEN = 'policy_assertion_failed';

/** A database that only web servers reach, a laptop that does not, and the assertion that it stays so. */
async function scene(name: 'by name' | 'by id' = 'by name') {
  const kit = await buildWorkspaceKit();
  const token = async (labels: Record<string, string>) =>
    (await kit.ask('generate_join_token', { name: 'test', usageLimit: 9, labels })).token as string;
  await kit.join('db-1', { token: await token({ role: 'db' }) });
  await kit.ask('create_policy', ONLY_WEB);
  const laptop = await kit.join('laptop', { token: await token({ team: 'a' }) });
  const src = name === 'by id' ? laptop.id : 'laptop';
  await kit.ask('create_assertion', { name: 'apart', src, dst: 'db-1', expect: 'unreachable' });
  const leave = () => kit.call('leave_network', {}, laptop.self);
  return Object.assign(kit, { laptop, token, leave });
}

describe('an assertion about a peer that left', () => {
  test.each(['by name', 'by id'] as const)('refuses what would let that peer in, named %s', async (how) => {
    await using kit = await scene(how);
    expect(await kit.leave()).toEqual({ deleted: 'laptop' });
    expect(await refusalOf(kit.ask('create_policy', OPEN_TO_ALL))).toBe(BROKEN);
    expect(await refusalOf(kit.ask('delete_policy', { id: 'web-to-db' }))).toBe(BROKEN);
    const toTeam = { peerSelector: { matchLabels: { team: 'a' } } };
    const team = { name: 'team', spec: { ...OPEN_TO_ALL.spec, ingress: [{ from: [toTeam] }] } };
    expect(await refusalOf(kit.ask('create_policy', team))).toBe(BROKEN);
    const { status } = await kit.ask('get_assertion', { id: 'apart' });
    expect(status).toEqual({ holds: true, detail: expect.stringContaining('left the network') });
  });

  test('refuses whoever comes in under its name and would reach what it must not', async () => {
    await using kit = await scene();
    const other = await kit.join('other', { token: await kit.token({ role: 'web' }) });
    await kit.leave();
    const web = await kit.token({ role: 'web' });
    expect(await refusalOf(kit.join('laptop', { token: web }))).toBe(BROKEN);
    expect(await refusalOf(kit.call('rename_own_device', { name: 'Laptop' }, other.self))).toBe(BROKEN);
    expect(await refusalOf(kit.ask('update_peer', { id: 'other', name: 'laptop' }))).toBe(BROKEN);
    expect(await kit.join('laptop')).toMatchObject({ name: 'laptop', phase: 'ready' });
    expect(await refusalOf(kit.ask('create_policy', OPEN_TO_ALL))).toBe(BROKEN);
    expect(await refusalOf(kit.ask('update_peer', { id: 'laptop', name: 'desk' }))).toBe(BROKEN);
  });

  test('holds while somebody waits under its name, who is judged when they are let in', async () => {
    await using kit = await scene();
    await kit.leave();
    await kit.ask('update_workspace', { settings: { requirePeerApproval: true } });
    const pending = await kit.join('laptop', { token: await kit.token({ role: 'web' }) });
    expect(pending.phase).toBe('pending');
    expect(await refusalOf(kit.ask('create_policy', OPEN_TO_ALL))).toBe(BROKEN);
    const { id } = await kit.ask('get_peer', { id: 'laptop' });
    expect(await refusalOf(kit.ask('approve_peer', { id }))).toBe(BROKEN);
    // Who was never let in leaves no trace with the assertion: the labels of the first laptop go on counting.
    await kit.call('leave_network', {}, pending.self);
    expect(await refusalOf(kit.ask('create_policy', OPEN_TO_ALL))).toBe(BROKEN);
  });

  test('holds for both ends, for an expected connection, and whoever deletes the peer', async () => {
    await using kit = await scene();
    await kit.join('web-1', { token: await kit.token({ role: 'web' }) });
    await kit.ask('create_assertion', { name: 'served', src: 'web-1', dst: 'db-1', expect: 'reachable' });
    for (const id of ['web-1', 'db-1']) await kit.ask('delete_peer', { id });
    const shut = { name: 'shut', spec: { action: 'DENY', peerSelector: {}, ingress: [{}] } };
    const refused = kit.ask('create_policy', shut);
    await expect(refused).rejects.toMatchObject({
      code: BROKEN,
      details: { failures: [{ name: 'served', pairs: 1 }] },
    });
    expect(await kit.join('web-1')).toMatchObject({ phase: 'ready' });
  });

  test('that says something else by now forgets the peer that it named', async () => {
    await using kit = await scene();
    await kit.join('desk');
    await kit.leave();
    await kit.ask('update_assertion', { id: 'apart', src: 'desk', dst: 'db-1', expect: 'unreachable' });
    const back = { id: 'apart', src: 'laptop', dst: 'db-1', expect: 'unreachable' };
    expect(await refusalOf(kit.ask('update_assertion', back))).toBe(BROKEN);
  });
});
