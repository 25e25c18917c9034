import { startHarness } from '../http/harness.ts';
import { joinDevice } from '../http/network-setup.ts';
import { enrol } from '../plane/devices.ts';
import { member, ownPassword, PASSWORD } from './page-people.ts';

export const HOSTILE = '<img src=x onerror="alert(1)">';

const DEVICES = [
  ['web-1', 'web'],
  ['web-2', 'web'],
  ['orders-db', 'db'],
  ['build-7', 'ci'],
  ['ada-laptop', 'ops'],
] as const;
/** Who is online is so for all tests of a file, however long they take: nobody beats for them. */
const STAY_MS = 3_600_000;
const OPS_SCOPES = ['network:read', 'snapshots:read', 'intents:plan', 'intents:apply', 'agents:delegate'];

/**
 * A workspace in which an agent works: it delegated to a sub-agent with a peer, one of its changes is carried out and one
 * waits, and it asked for what it may not see. Of the devices four are online; two pairs are direct and one is relayed.
 */
export async function startAgentsNetwork() {
  const harness = await startHarness();
  const { workspace, token: first } = await harness.workspace();
  const joined = [];
  for (const [name, role] of DEVICES)
    joined.push(await joinDevice(harness, { token: first, workspace }, name, { role }));
  const since = new Date().toISOString();
  for (const [index, { deviceToken }] of joined.slice(0, 4).entries()) {
    const next = joined[(index + 1) % 4]?.id;
    const path = index === 3 ? { transport: 'lrp-ready', path: 'relayed' } : { transport: 'ice-ready', path: 'direct' };
    const body = { paths: [{ peer: next, reason: 'proven', since, ...path }] };
    await harness.api('POST', '/api/v1/devices/self/heartbeat', { token: deviceToken, body });
  }
  const { liveness, clock } = harness.plane.services;
  for (const { id } of joined.slice(0, 4)) liveness.heard(workspace, id, clock.now() + STAY_MS);
  const token = await ownPassword(harness);
  const own = { token, workspace };
  for (const [name, role] of [
    ['vera', 'viewer'],
    ['olga', 'operator'],
  ] as const)
    await member(harness, own, name, role);

  const toWeb = { to: [{ peerSelector: { matchLabels: { role: 'web' } } }], ports: [{ protocol: 'TCP', port: 443 }] };
  const made = { name: 'ops-agent', ttl: '8h', scopes: OPS_SCOPES, reach: [toWeb] };
  const { body: ops } = await harness.api('POST', '/api/v1/agents', { ...own, body: made });
  const agent = { token: ops.token as string, workspace };
  await harness.api('POST', '/api/v1/agents', {
    ...own,
    body: { name: 'auditor-bot', ttl: '30d', scopes: ['network:read'] },
  });
  const scout = {
    subAgentName: 'scout',
    ttl: '30m',
    policyPreset: 'sandboxed',
    scopes: ['network:read'],
    egress: [toWeb],
  };
  const delegated = await harness.api('POST', '/api/v1/agents/self/delegate', { ...agent, body: scout });
  await enrol(harness, delegated.body.enrollmentToken, 'scout');

  const answered = async (route: string, as: typeof agent, body: object) => {
    const answer = await harness.api('POST', route, { ...as, body });
    if (answer.status >= 300) throw new Error(`${route}: ${answer.text}`);
    return answer.body;
  };
  const ask = async (intent: string) => {
    const body = { workspace_id: workspace, intent, dry_run: false };
    const plan = await answered('/api/v1/ai/intent/plan', agent, body);
    const wanted = { plan_id: plan.plan_id, approved_by: 'admin' };
    return (await answered('/api/v1/ai/intent/apply', agent, wanted)).workflow_id as string;
  };
  const done = await ask('let the web servers reach the database on port 5432 and nobody else');
  const olga = { token: await harness.login('olga', PASSWORD), workspace };
  await answered(`/api/v1/workflows/${done}/approve`, olga, {});
  const waits = await ask('block role=ci from role=web');
  await harness.api('GET', '/api/v1/peers?limit=3', agent);
  await harness.api('GET', `/api/v1/peers/${encodeURIComponent(HOSTILE)}`, agent);
  return { ...harness, own, agent, done, waits };
}

export type AgentsNetwork = Awaited<ReturnType<typeof startAgentsNetwork>>;
