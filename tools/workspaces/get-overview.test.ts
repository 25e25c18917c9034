import { expect, test } from 'vitest';
import { buildWorkspaceKit, refusalOf } from '../../test/kits/plane/workspace-kit.ts';

test('a workspace is counted: peers, paths between those that are there, policies and agents', async () => {
  await using kit = await buildWorkspaceKit();
  const [web, db] = [await kit.join('web-1'), await kit.join('db-1')];
  const { services, workspace } = kit;
  const since = '2026-01-05T12:00:00.000Z';
  const path = { since, reason: 'lan', transport: 'ice-ready' as const, path: 'direct' as const };
  services.paths.report(workspace, web.id, [
    { ...path, peer: db.id },
    { ...path, peer: 'p_gone' },
  ]);
  services.paths.report(workspace, db.id, [{ ...path, peer: web.id, transport: 'lrp-ready', path: 'relayed' }]);
  await kit.ask('create_agent', { name: 'ops' });
  expect(await kit.as('viewer')('get_overview')).toMatchObject({
    peers: { total: 2, ready: 2, pending: 0, online: 0 },
    paths: { direct: 1, relayed: 1 },
    policies: 0,
    agents: { total: 1, live: 1 },
  });
  expect(await refusalOf(kit.holding()('get_overview'))).toBe('forbidden network:read');
});

test('a network without a policy of anybody is a warning, and no more once there is one', async () => {
  await using kit = await buildWorkspaceKit();
  await kit.join('web-1');
  const codes = async () => (await kit.as('viewer')('get_overview')).warnings.map(({ code }: { code: string }) => code);
  expect(await codes()).toEqual(['open-network']);
  await kit.ask('create_policy', { name: 'shut', spec: { action: 'DENY', peerSelector: {}, ingress: [{}] } });
  expect(await codes()).toEqual([]);
});

test('an open bus and passwords that others set are told to who may assess the installation alone', async () => {
  await using kit = await buildWorkspaceKit();
  Object.assign(kit.services.settings.listens, { bus: { host: '0.0.0.0', auth: 'none', tls: false } });
  const told = async (role: 'operator' | 'auditor') =>
    (await kit.as(role)('get_overview')).warnings.map(({ code }: { code: string }) => code);
  expect(await told('auditor')).toEqual(['bus-exposure']);
  expect(await told('operator')).toEqual([]);
});
