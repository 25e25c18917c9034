import { expect, test } from 'vitest';
import { buildWorkspaceKit, refusalOf } from '../../test/kits/plane/workspace-kit.ts';

test('a network that is replaced has its new block, and its peers keep their addresses', async () => {
  await using kit = await buildWorkspaceKit();
  const { address } = await kit.join('web-1');
  const updated = await kit.ask('update_network', { id: 'default', spec: { cidr: '10.96.0.0/20' } });
  expect(updated).toMatchObject({ spec: { cidr: '10.96.0.0/20' }, status: { peers: 1, allocated: 1 } });
  expect(await kit.ask('get_peer', { id: 'web-1' })).toMatchObject({ status: { address } });
});

test('a block may not leave out an address in use, and a network is replaced where it is, with network:write', async () => {
  await using kit = await buildWorkspaceKit();
  await kit.join('web-1');
  const spec = { cidr: '10.96.0.128/25' };
  expect(await refusalOf(kit.ask('update_network', { id: 'default', spec }))).toBe('conflict');
  expect(await refusalOf(kit.ask('update_network', { id: 'default', spec: { cidr: 'x' } }))).toBe(
    'invalid_input /spec/cidr',
  );
  expect(await refusalOf(kit.ask('update_network', { id: 'lab', spec }))).toBe('not_found');
  expect(await refusalOf(kit.as('viewer')('update_network', { id: 'default', spec }))).toBe('forbidden network:write');
});

test('a network that has a reserved block from an earlier version keeps it, and takes another only that is allowed', async () => {
  await using kit = await buildWorkspaceKit();
  const made = await kit.ask('create_network', { name: 'old', spec: { cidr: '10.97.0.0/24' } });
  const { services, workspace } = kit;
  const record = await services.store.get(workspace, { kind: 'MeshNetwork', name: made.name });
  if (!record) throw new Error('no network');
  const { name, uid, labels, annotations, status, unique } = record;
  const draft = { kind: 'MeshNetwork', name, uid, labels, annotations, status, unique } as const;
  const stored = { ...draft, spec: { ...record.spec, cidr: '169.254.0.0/16' } };
  const context = { actor: 'system:test', reason: 'an earlier version', requestId: 'r' };
  await services.store.commit(workspace, [{ op: 'update', record: stored, revision: record.revision }], context);
  const spec = { cidr: '169.254.0.0/16', mtu: 1400 };
  expect(await kit.ask('update_network', { id: 'old', spec })).toMatchObject({ spec });
  expect(await refusalOf(kit.ask('update_network', { id: 'old', spec: { cidr: '169.254.0.0/17' } }))).toBe(
    'invalid_input /spec/cidr',
  );
  expect(await kit.ask('update_network', { id: 'old', spec: { cidr: '10.97.0.0/24' } })).toMatchObject({ name: 'old' });
});

test('another block of a network and peers that move to another are route changes: named first, and of high risk', async () => {
  await using kit = await buildWorkspaceKit();
  await kit.join('web-1');
  await kit.ask('create_network', { name: 'lab', spec: { cidr: '10.97.0.0/24' } });
  const planOf = (...changes: object[]) => kit.ask('plan_network_change', { intent: 'routes', changes });
  const wider = await planOf({
    ...{ action: 'update', resource: 'MeshNetwork', name: 'default' },
    spec: { cidr: '10.96.0.0/20' },
  });
  const block = 'changes the block of the network default from 10.96.0.0/24 to 10.96.0.0/20 (1 peer)';
  expect(wider).toMatchObject({ risk_level: 'high', risk_reasons: [block], effect: { routes: [{ text: block }] } });
  expect(wider.summary).toMatch(/^Changes the block of the network default/);
  const moved = await planOf({ action: 'update', resource: 'MeshPeer', name: 'web-1', spec: { network: 'lab' } });
  const move = 'moves web-1 from the network default (10.96.0.0/24) to lab (10.97.0.0/24)';
  expect(moved).toMatchObject({ risk_level: 'high', effect: { routes: [{ text: move, peers: 1 }] } });
  expect(moved.risk_reasons).toContain(move);
  expect(moved.diff_markdown).toMatch(/^# Moves web-1 from the network default/);
  expect(moved.diff_markdown.indexOf('## Routes')).toBeLessThan(moved.diff_markdown.indexOf('## Opens'));
});
