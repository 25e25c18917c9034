import { expect, test } from 'vitest';
import type { ProposedChange } from '../../web/src/api/types.ts';
import { editsOf } from '../../web/src/effect/computed-edits.ts';
import { buildHistoryKit } from '../kits/plane/history-kit.ts';

test('networks and labels of peers are set, and policies and networks deleted by their kind', () => {
  const changes: ProposedChange[] = [
    { action: 'update', resource: 'MeshPeer', name: 'web-1', network: 'lab', labels: { env: 'prod' } },
    { action: 'delete', resource: 'MeshPolicy', name: 'shut' },
    { action: 'delete', resource: 'MeshNetwork', name: 'old' },
  ];
  expect(editsOf(changes)).toEqual({
    set: [{ peer: 'web-1', labels: ['env=prod'], network: 'lab' }],
    delete: ['policy/shut', 'network/old'],
  });
});

test.each([
  ['is isolated', { action: 'ALLOW', peerSelector: { peers: ['db-1'] }, ingress: [] }],
  ['is closed with everyone', { action: 'DENY', peerSelector: {}, ingress: [{}], egress: [{}] }],
])('a computed fix is planned as it is, as documents, where a peer %s', async (_what, spec) => {
  await using kit = await buildHistoryKit();
  for (const name of ['db-1', 'visitor', 'guest']) await kit.join(name, {});
  await kit.ask('create_policy', { name: 'shut', spec });
  const { would_fix } = await kit.ask('explain_denial', { src: 'visitor', dst: 'db-1', port: 5432 });
  const [{ changes }] = would_fix as [{ changes: ProposedChange[] }];
  const hold = [{ do: 'allow', from: ['visitor'], to: ['db-1'], ports: ['tcp/5432'] }];
  const intent = 'let visitor reach db-1 on TCP 5432';
  const plan = await kit.ask('plan_network_change', { intent, ...editsOf(changes), hold });
  expect(plan).toMatchObject({
    check: 'matches',
    summary: expect.stringMatching(/^Opens TCP 5432 from visitor to db-1; closes nothing/),
    expectations_hold: true,
    unmet: [],
    effect: { opened: [{ src: 'visitor', dst: 'db-1', protocol: 'TCP', from: 5432, to: 5432 }], closed: [] },
  });
});
