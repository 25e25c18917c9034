import { expect, test } from 'vitest';
import { formatInstant, formatSecond, parseInstant } from '../../core/base/time.ts';
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
    'web-1 may not reach db-1 on TCP port 22. Open from web-1 to db-1: TCP 5432. db-1 may be reached by web-1 only on TCP 5432 (policy web-to-db); policy web-to-db closes the rest.',
  ],
  [
    'some ports only',
    { src: 'web-1', dst: 'db-1' },
    'web-1 may reach db-1 only in part: TCP 5432. db-1 may be reached by web-1 only on TCP 5432 (policy web-to-db); policy web-to-db closes the rest.',
  ],
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
  const end = formatSecond(parseInstant(expiresAt));
  const until = `TCP 22 until ${end}, when policy for-two-hours ends`;
  const rest = `db-1 may be reached by web-1 only on TCP 22 (policy for-two-hours) and TCP 5432 (policy web-to-db); policies for-two-hours until ${end} and web-to-db close the rest.`;
  const pair = { src: 'web-1', dst: 'db-1' };
  const explained = async (on: object) => (await kit.ask('explain_denial', { ...pair, ...on })).explanation;
  expect(await explained({})).toBe(`web-1 may reach db-1 only in part: TCP 5432; ${until}. ${rest}`);
  expect(await explained({ port: 80 })).toBe(
    `web-1 may not reach db-1 on TCP port 80. Open from web-1 to db-1: TCP 5432; ${until}. ${rest}`,
  );
  expect(await explained({ port: 22 })).toContain(
    `web-1 may reach db-1 on TCP port 22 until ${end}, when policy for-two-hours ends.`,
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
    'web-1 may not reach db-1 on TCP port 22. web-1 may open only TCP 80 (policy web-out) to db-1; policy web-out closes the rest. db-1 may be reached by web-1 only on TCP 5432 (policy web-to-db); policy web-to-db closes the rest.',
  );
});

test('only who really connects is said to be let in: no peer that is revoked, in another network or denied by another policy', async () => {
  await using kit = await buildHistoryKit();
  for (const [name, role] of ['web-1', 'web-2', 'web-3', 'web-4'].map((name) => [name, 'web'] as const)) {
    await kit.join(name, { role });
  }
  for (const role of ['db', 'ci', 'app']) await kit.join(`${role}-1`, { role });
  await kit.ask('create_network', { name: 'lab', spec: { cidr: '10.97.0.0/24' } });
  await kit.ask('update_peer', { id: 'web-2', network: 'lab' });
  await kit.ask('revoke_peer', { id: 'web-3' });
  await kit.ask('create_policy', { name: 'ciin', spec: TO('ci') });
  await kit.ask('create_policy', { name: 'webin', spec: TO('web') });
  const ci = { peerSelector: { matchLabels: { role: 'ci' } } };
  await kit.ask('create_policy', { name: 'no-ci', spec: { action: 'DENY', ...ci, egress: [{}] } });
  const { explanation } = await kit.ask('explain_denial', { src: 'app-1', dst: 'db-1' });
  expect(explanation).toContain(
    'db-1 is closed but for what policies open: webin to web-1 and web-4 and ciin to nobody now.',
  );
});

test('a temporary policy that closes says until when, in the text and beside the reason', async () => {
  await using kit = await scene();
  const expiresAt = formatInstant(kit.clock.time + 7_200_000);
  await kit.join('app-1', { role: 'app' });
  await kit.ask('create_policy', {
    name: 'freeze',
    spec: { action: 'DENY', peerSelector: {}, ingress: [], expiresAt },
  });
  const { explanation, blocked_by } = await kit.ask('explain_denial', { src: 'app-1', dst: 'db-1' });
  expect(explanation).toContain(`by default-deny (policy freeze until ${formatSecond(parseInstant(expiresAt))})`);
  expect(blocked_by[0]).toMatchObject({ policy: 'freeze', expires_at: expiresAt });
});

test('rules that deny a part of a whole pair each say which ports', async () => {
  await using kit = await buildHistoryKit();
  for (const role of ['web', 'db']) await kit.join(`${role}-1`, { role });
  const deny = (protocol: string, port?: number) => ({
    action: 'DENY',
    peerSelector: { peers: ['db-1'] },
    ingress: [{ from: ['*'], ports: [{ protocol, ...(port && { port }) }] }],
  });
  await kit.ask('create_policy', { name: 'p3', spec: deny('UDP') });
  await kit.ask('create_policy', { name: 'p8', spec: deny('TCP', 22) });
  const explained = async (on: object) =>
    (await kit.ask('explain_denial', { src: 'web-1', dst: 'db-1', ...on })).explanation;
  expect(await explained({})).toContain(
    'Denied: all UDP by policy p3 (ingress rule 0) and TCP 22 by policy p8 (ingress rule 0).',
  );
  expect(await explained({ port: 22 })).toContain('It is denied by policy p8 (ingress rule 0).');
});

test('a range outside that is let in only in part says which part, and on which ports', async () => {
  await using kit = await scene();
  const from = [{ ipBlock: { cidr: '203.0.113.0/25' } }];
  const spec = {
    action: 'ALLOW',
    peerSelector: { peers: ['db-1'] },
    ingress: [{ from, ports: [{ port: 443, protocol: 'TCP' }] }],
  };
  await kit.ask('create_policy', { name: 'office', spec });
  const { explanation } = await kit.ask('explain_denial', { src: '203.0.113.0/24', dst: 'db-1' });
  expect(explanation).toContain('203.0.113.0/24 may reach db-1 only in part: 203.0.113.0/25 on TCP 443.');
});

test('one peer asked about twice is said to be the same, once', async () => {
  await using kit = await scene();
  const { explanation } = await kit.ask('explain_denial', { src: 'db-1', dst: 'DB-1' });
  expect(explanation).toBe('Both ends are the same peer, db-1, which always reaches itself. But db-1 is offline.');
});
