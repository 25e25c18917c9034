import { expect, test } from 'vitest';
import { formatInstant } from '../../core/base/time.ts';
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
    'web-1 may not reach db-1 on TCP port 22. Open from web-1 to db-1: TCP 5432.',
  ],
  ['some ports only', { src: 'web-1', dst: 'db-1' }, 'web-1 may reach db-1 only in part: TCP 5432.'],
])('%s is explained by the ports that are open', async (_what, query, explanation) => {
  await using kit = await scene();
  expect(await kit.ask('explain_denial', query)).toMatchObject({ denied: true, explanation });
});

test('whom policies open an isolated peer to is said, with the policy that would let the connection in', async () => {
  await using kit = await scene();
  await kit.join('app-1', { role: 'app' });
  const answer = await kit.ask('explain_denial', { src: 'app-1', dst: 'db-1', port: 5432 });
  expect(answer).toMatchObject({
    denied: true,
    explanation:
      'app-1 may not reach db-1 on TCP port 5432. No policy allows app-1 → db-1. db-1 is closed but for what policies open: web-to-db to web-1.',
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
    blocked_by: [],
    would_fix: ['web-1', 'db-1'].map((peer) => ({
      change: 'come_online',
      peer,
      by: 'the device',
      detail: `${peer} is offline: start the node there (mesh up).`,
    })),
  });
});

const TO = (role: string, ports?: object[]) => ({
  action: 'ALLOW',
  peerSelector: { matchLabels: { role: 'db' } },
  ingress: [{ from: [{ peerSelector: { matchLabels: { role } } }], ...(ports && { ports }) }],
});

test('a denial says once which policy closes and which open to whom, and names no policy that allows as the reason', async () => {
  await using kit = await buildHistoryKit();
  for (const role of ['db', 'laptop', 'api', 'ops', 'backup', 'ci']) await kit.join(`${role}-1`, { role });
  await kit.join('api-2', { role: 'api' });
  for (const role of ['api', 'ops', 'backup', 'ci']) {
    await kit.ask('create_policy', { name: `allow-${role}`, spec: TO(role) });
  }
  await kit.ask('create_policy', { name: 'base', spec: { action: 'DENY', peerSelector: {}, ingress: [] } });
  const { explanation, blocked_by } = await kit.ask('explain_denial', { src: 'laptop-1', dst: 'db-1' });
  expect(explanation).toBe(
    'laptop-1 may not reach db-1. No policy allows laptop-1 → db-1. db-1 is closed by default-deny (policy base); 4 policies open it: allow-api to role=api (2 peers), allow-backup to backup-1, allow-ci to ci-1 and allow-ops to ops-1.',
  );
  expect(blocked_by[0]).toMatchObject({ reason_code: 'INGRESS_ISOLATED', policy: 'base' });
  await kit.ask('create_policy', { name: 'no-laptops', spec: { action: 'DENY', peerSelector: {}, egress: [{}] } });
  expect((await kit.ask('explain_denial', { src: 'laptop-1', dst: 'db-1' })).explanation).toContain(
    'It is denied by policy no-laptops (egress rule 0). No policy allows laptop-1 → db-1.',
  );
});

test('what is open says until when, and which policy ends then', async () => {
  await using kit = await scene();
  const expiresAt = formatInstant(kit.clock.time + 7_200_000);
  const spec = { ...TO('web', [{ protocol: 'TCP', port: 22 }]), expiresAt };
  await kit.ask('create_policy', { name: 'for-two-hours', spec });
  const until = `TCP 22 until ${expiresAt}, when policy for-two-hours ends`;
  const pair = { src: 'web-1', dst: 'db-1' };
  const explained = async (on: object) => (await kit.ask('explain_denial', { ...pair, ...on })).explanation;
  expect(await explained({})).toBe(`web-1 may reach db-1 only in part: TCP 5432; ${until}.`);
  expect(await explained({ port: 80 })).toBe(
    `web-1 may not reach db-1 on TCP port 80. Open from web-1 to db-1: TCP 5432; ${until}.`,
  );
  expect(await explained({ port: 22 })).toContain(
    `web-1 may reach db-1 on TCP port 22 until ${expiresAt}, when policy for-two-hours ends.`,
  );
  expect(await explained({ port: 5432 })).toContain('web-1 may reach db-1 on TCP port 5432. But');
});

test('each direction that has other ports than the other says its own', async () => {
  await using kit = await scene();
  const egress = [{ to: ['*'], ports: [{ protocol: 'TCP', port: 80 }] }];
  const spec = { action: 'ALLOW', peerSelector: { matchLabels: { role: 'web' } }, egress };
  await kit.ask('create_policy', { name: 'web-out', spec });
  const { explanation } = await kit.ask('explain_denial', { src: 'web-1', dst: 'db-1', port: 22 });
  expect(explanation).toBe(
    'web-1 may not reach db-1 on TCP port 22. Policies let web-1 open only TCP 80 to db-1. Policies let db-1 be reached by web-1 only on TCP 5432.',
  );
});
