import { expect, test } from 'vitest';
import { buildWorkspaceKit, refusalOf } from '../../test/kits/plane/workspace-kit.ts';
import { seedPeers } from '../../test/kits/records/seed-peers.ts';

const HEAD = 'mesh.internal/v1alpha1';
const SHUT = { action: 'DENY', peerSelector: { peers: ['db-1'] }, ingress: [{}] };

async function twoPeers() {
  const kit = await buildWorkspaceKit();
  await kit.join('web-1');
  const { key } = await kit.join('db-1');
  await kit.ask('update_peer', { id: 'db-1', labels: { role: 'db', env: 'prod' } });
  return { ...kit, dbKey: key.publicKey, [Symbol.asyncDispose]: () => kit[Symbol.asyncDispose]() };
}

test('an export holds networks, peers and policies by name, each with what people decide of it and no ids', async () => {
  await using kit = await twoPeers();
  await kit.ask('create_policy', { name: 'shut', annotations: { why: 'audit' }, spec: SHUT });
  const { resources, left_out, revision, at } = await kit.as('viewer')('export_resources');
  expect(resources.map((one: { kind: string; metadata: object }) => [one.kind, one.metadata])).toEqual([
    ['MeshNetwork', { name: 'default' }],
    ['MeshPeer', { name: 'db-1', labels: { env: 'prod', role: 'db' } }],
    ['MeshPeer', { name: 'web-1' }],
    ['MeshPolicy', { name: 'shut', annotations: { why: 'audit' } }],
  ]);
  expect(resources[1]).toEqual({
    apiVersion: HEAD,
    kind: 'MeshPeer',
    metadata: { name: 'db-1', labels: { env: 'prod', role: 'db' } },
    spec: { network: 'default', publicKey: kit.dbKey },
    status: { address: '10.96.0.2' },
  });
  expect(resources[3].spec).toEqual(SHUT);
  expect(JSON.stringify(resources)).not.toMatch(/"(?:uid|generation|revision|createdAt|tokenId)"|_[a-z2-7]{26}/);
  const state = await kit.services.states.current(kit.workspace);
  expect([left_out, revision, at]).toEqual([[], state.revision, new Date(kit.clock.time).toISOString()]);
});

test('what agents made, what is shut out and what has ended is left out, and the export says so', async () => {
  await using kit = await twoPeers();
  const { token } = await kit.ask('create_agent', { name: 'boss', scopes: ['network:read', 'agents:delegate'] });
  const asked = { id: 'boss', subAgentName: 'bot', ttl: '1h', policyPreset: 'sandboxed' };
  const { enrollmentToken } = await kit.call('delegate_agent', asked, { bearer: token });
  const { name: bot } = await kit.join('bot', { token: enrollmentToken });
  await kit.join('old-1');
  await kit.ask('create_policy', { name: 'keep', spec: { ...SHUT, peerSelector: { peers: ['old-1', bot, 'web-1'] } } });
  await kit.ask('create_policy', { name: 'brief', ttl: '1m', spec: SHUT });
  await kit.ask('revoke_peer', { id: 'old-1' });
  kit.clock.time += 61_000;
  const { resources, left_out } = await kit.ask('export_resources');
  const { peers } = await kit.services.states.current(kit.workspace);
  expect(resources.map(({ metadata }: { metadata: { name: string } }) => metadata.name)).toEqual([
    'default',
    'db-1',
    'web-1',
    'keep',
  ]);
  // Whom files do not hold is nobody elsewhere: no newcomer with that name.
  expect(resources[3].spec.peerSelector.peers).toEqual([peers.get('old-1')?.uid, peers.get(bot)?.uid, 'web-1']);
  const reasons = left_out.map(({ kind, names }: { kind: string; names: string[] }) => `${kind} ${names.join(' ')}`);
  expect(reasons.toSorted()).toEqual([
    'AgentIdentity boss bot',
    `MeshPeer ${bot}`,
    'MeshPeer old-1',
    expect.stringMatching(/^MeshPolicy agt_\w+\.sandboxed agt_/),
    'MeshPolicy brief',
    'MeshPolicy keep',
  ]);
});

test('an export of an instant or a snapshot has what was then, for who may read the past, in Pro', async () => {
  await using kit = await twoPeers();
  await kit.ask('create_policy', { name: 'shut', spec: SHUT });
  const { id } = await kit.ask('take_snapshot');
  const at = new Date(kit.clock.time).toISOString();
  kit.clock.time += 1_000;
  await kit.ask('delete_policy', { id: 'shut' });
  const kinds = async (input: object) =>
    (await kit.ask('export_resources', { ...input })).resources.map(({ kind }: { kind: string }) => kind);
  const before = ['MeshNetwork', 'MeshPeer', 'MeshPeer', 'MeshPolicy'];
  expect([await kinds({ at }), await kinds({ snapshot_id: id }), await kinds({})]).toEqual([
    before,
    before,
    before.slice(0, 3),
  ]);
  expect(await refusalOf(kit.holding('network:read')('export_resources', { at }))).toBe('forbidden snapshots:read');
  await using community = await buildWorkspaceKit({ edition: 'community' });
  expect(await refusalOf(community.ask('export_resources', { at }))).toBe('edition_required');
  expect((await community.ask('export_resources')).resources).toHaveLength(1);
});

test('a large export comes in pages of one revision, and their cursor opens no past', async () => {
  await using kit = await buildWorkspaceKit();
  const names = Array.from({ length: 120 }, (_, index) => `web-${index}`);
  await seedPeers(kit.services, kit.workspace, Object.fromEntries(names.map((name) => [name, { role: 'web' }])));
  const page = (cursor?: string) =>
    kit.call('export_resources', cursor === undefined ? {} : { cursor }, {
      as: kit.agent(['network:read'], kit.workspace),
      workspace: kit.workspace,
      face: 'mcp',
    });
  const first = await page();
  await kit.ask('create_policy', { name: 'later', spec: { ...SHUT, peerSelector: {} } });
  const found = [...first.resources];
  for (let cursor = first.next_cursor; cursor !== undefined; ) {
    const next = await page(cursor);
    expect([next.revision, next.left_out]).toEqual([first.revision, undefined]);
    found.push(...next.resources);
    cursor = next.next_cursor;
  }
  const shown = found.map(({ metadata }: { metadata: { name: string } }) => metadata.name);
  expect(shown).toEqual(['default', ...names.toSorted()]);
  kit.clock.time += 61_000;
  expect(await refusalOf(page(first.next_cursor))).toBe('expired');
  for (const cursor of ['1.0.MeshPeer.', '99999.0.MeshPeer.', 'x', `${first.revision}.0.Token.`]) {
    expect(await refusalOf(page(cursor))).toMatch(/^(?:expired|invalid_input)/);
  }
});
