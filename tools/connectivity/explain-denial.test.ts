import { expect, test } from 'vitest';
import { buildHistoryKit } from '../../test/kits/plane/history-kit.ts';

const RULE = { from: [{ peerSelector: { matchLabels: { role: 'web' } } }], ports: [{ protocol: 'TCP', port: 5432 }] };

async function scene() {
  const kit = await buildHistoryKit();
  await kit.join('web-1', { role: 'web' });
  await kit.join('db-1', { role: 'db' });
  const spec = { action: 'ALLOW', peerSelector: { matchLabels: { role: 'db' } }, ingress: [RULE] };
  await kit.ask('create_policy', { name: 'web-to-db', spec });
  return kit;
}

test.each([
  [
    'another port',
    { src: 'web-1', dst: 'db-1', protocol: 'TCP', port: 22 },
    'web-1 may not reach db-1 on TCP port 22. Policy web-to-db, ingress rule 0 allows this pair, but on other ports.',
  ],
  [
    'some ports only',
    { src: 'web-1', dst: 'db-1' },
    'web-1 may reach db-1 only in part. Policy web-to-db, ingress rule 0 allows this pair, but on other ports.',
  ],
])('%s is explained by the policy and rule that refuse it', async (_what, query, explanation) => {
  await using kit = await scene();
  expect(await kit.ask('explain_denial', query)).toMatchObject({ denied: true, explanation });
});

test('a policy that isolates is named, with the policy that would let the connection in', async () => {
  await using kit = await scene();
  await kit.join('app-1', { role: 'app' });
  const answer = await kit.ask('explain_denial', { src: 'app-1', dst: 'db-1', port: 5432 });
  expect(answer).toMatchObject({
    denied: true,
    explanation: 'app-1 may not reach db-1 on TCP port 5432. Policy web-to-db isolates db-1, and no rule lets this in.',
    allowed: [],
    blocked_by: [{ stage: 'ingress', reason_code: 'INGRESS_ISOLATED', policy: 'web-to-db' }],
    would_fix: [
      {
        change: 'apply_changes',
        changes: [{ action: 'create', resource: 'MeshPolicy', name: 'allow-app-1-to-db-1' }],
        opens_pairs: 1,
        closes_pairs: 0,
      },
      { change: 'come_online', peer: 'app-1' },
      { change: 'come_online', peer: 'db-1' },
    ],
  });
});

test.each([
  [
    'a policy that only others may pass',
    {
      action: 'ALLOW',
      peerSelector: { peers: ['db-1'] },
      ingress: [{ from: [{ peerSelector: { peers: ['web-1'] } }] }],
    },
  ],
  ['a policy that isolates it', { action: 'DENY', peerSelector: { peers: ['db-1'] }, ingress: [{}], egress: [{}] }],
  ['a policy that closes everyone', { action: 'DENY', peerSelector: {}, ingress: [{}], egress: [{}] }],
])('what would open %s is planned as it is, and opens the port of the two peers alone', async (_what, spec) => {
  await using kit = await buildHistoryKit();
  for (const name of ['web-1', 'db-1', 'visitor', 'guest', 'stranger']) await kit.join(name, {});
  await kit.ask('create_policy', { name: 'shut', spec });
  const { would_fix } = await kit.ask('explain_denial', { src: 'visitor', dst: 'db-1', port: 5432 });
  const [{ changes, opens_pairs }] = would_fix as [{ changes: object[]; opens_pairs: number }];
  const expectations = [{ src: 'visitor', dst: 'db-1', protocol: 'TCP', port: 5432, expect: 'allow' }];
  const { effect } = await kit.ask('plan_network_change', { intent: 'let the visitor in', changes, expectations });
  expect(opens_pairs).toBe(1);
  expect(effect).toMatchObject({
    opened: [{ src: 'visitor', dst: 'db-1', protocol: 'TCP', from: 5432, to: 5432 }],
    closed: [],
  });
});

test('what is allowed is no denial, and says who is offline', async () => {
  await using kit = await scene();
  expect(await kit.ask('explain_denial', { src: 'web-1', dst: 'db-1', port: 5432 })).toEqual({
    denied: false,
    explanation: 'web-1 may reach db-1 on TCP port 5432. But web-1 and db-1 are offline.',
    allowed: [{ protocol: 'TCP', from: 5432, to: 5432 }],
    valid_from: expect.any(String),
    valid_to: null,
    blocked_by: [],
    would_fix: ['web-1', 'db-1'].map((peer) => ({
      change: 'come_online',
      peer,
      by: 'the device',
      detail: `${peer} is offline: start the node there (mesh up).`,
    })),
  });
});
