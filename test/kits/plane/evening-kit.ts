import { formatInstant } from '../../../core/base/time.ts';
import { presence } from '../records/records.ts';
import { carryOut } from './carry-out.ts';
import { buildHistoryKit } from './history-kit.ts';
import { agent } from './kit.ts';

const PEERS: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  'web-1': { role: 'web', env: 'prod' },
  'web-2': { role: 'web', env: 'prod' },
  'app-1': { role: 'app', env: 'prod' },
  'app-2': { role: 'app', env: 'prod' },
  'db-1': { role: 'db', env: 'prod' },
  'db-2': { role: 'db', env: 'staging' },
  'web-stg': { role: 'web', env: 'staging' },
  bastion: { role: 'bastion' },
  monitoring: { role: 'monitoring' },
  ci: { role: 'ci' },
  'laptop-alice': { role: 'laptop', owner: 'alice' },
  'laptop-bob': { role: 'laptop', owner: 'bob' },
  'laptop-7': { role: 'laptop' },
};

const from = (...peers: object[]) => ({ from: peers.map((one) => ({ peerSelector: one })) });
const role = (value: string) => ({ matchLabels: { role: value } });
const prod = (value: string) => ({ matchLabels: { role: value, env: 'prod' } });
const ports = (...numbers: number[]) => ({ ports: numbers.map((port) => ({ port })) });

const POLICIES = {
  'db-from-app': {
    action: 'ALLOW',
    peerSelector: prod('db'),
    ingress: [
      { ...from(prod('app')), ...ports(5432) },
      { ...from({ peers: ['bastion'] }), ...ports(22) },
      { ...from({ peers: ['monitoring'] }), ...ports(9100) },
    ],
  },
  'web-public': {
    action: 'ALLOW',
    peerSelector: prod('web'),
    ingress: [ports(443), { ...from({ peers: ['bastion', 'ci'] }), ...ports(22) }],
  },
  'app-from-web': {
    action: 'ALLOW',
    peerSelector: role('app'),
    ingress: [
      { ...from(prod('web')), ...ports(8080) },
      { ...from({ peers: ['bastion'] }), ...ports(22) },
    ],
  },
  'no-staging-in-prod': {
    action: 'DENY',
    peerSelector: { matchLabels: { env: 'prod' } },
    ingress: [from({ matchLabels: { env: 'staging' } })],
  },
  'laptops-closed': {
    action: 'ALLOW',
    peerSelector: role('laptop'),
    ingress: [{ ...from({ peers: ['monitoring'] }), ports: [{ protocol: 'ICMP' }] }],
  },
};

/**
 * The evening of a small company, a Monday by the clocks of UTC: thirteen peers join at 18:45, policies come at 18:46, an
 * agent opens three connections at 18:48, ci is frozen from 18:48:56 to 18:49:59, and it is 18:57 when it is asked about.
 */
export async function anEvening() {
  const kit = await buildHistoryKit();
  const day = formatInstant(kit.clock.time).slice(0, 10);
  const pass = (clock: string) => kit.pass(Date.parse(`${day}T${clock}Z`) - kit.clock.time);
  const bot = {
    ...agent(['network:read', 'intents:plan', 'intents:apply'], kit.workspace, { name: 'planner-bot' }),
    id: 'agt_planner',
  };
  const asBot = async (intent: string) => {
    const { plan_id: plan } = await kit.call('plan_network_change', { intent }, { as: bot });
    await carryOut(kit, kit.workspace, plan, bot);
  };
  const online = async (names: readonly string[]) => {
    const ops = names.map((name) => ({ op: 'create' as const, record: presence(name, true) }));
    const context = { actor: 'system:presence', reason: `${names.join(', ')} came online`, requestId: 'r' };
    await kit.services.store.commit(kit.workspace, ops, context);
  };

  await pass('18:45:50');
  const devices = new Map<string, string>();
  for (const [name, labels] of Object.entries(PEERS)) devices.set(name, (await kit.join(name, labels)).deviceToken);
  await pass('18:46:34');
  for (const [name, spec] of Object.entries(POLICIES)) await kit.ask('create_policy', { name, spec });
  await pass('18:48:20');
  await asBot('let ci reach db-1 on port 5432');
  await pass('18:48:23');
  await asBot('let laptop-7 ssh to web-1 for 3 minutes');
  await pass('18:48:27');
  await asBot('let laptop-alice reach app-1 on 8080');
  await pass('18:48:56');
  const spec = {
    action: 'DENY',
    peerSelector: { peers: ['ci'] },
    egress: [{ to: from({ matchLabels: { env: 'prod' } }).from }],
  };
  await kit.ask('create_policy', { name: 'ci-frozen', spec });
  await pass('18:49:06');
  await kit.call('rename_own_device', { name: 'bob-mbp' }, { bearer: devices.get('laptop-bob') ?? '' });
  await pass('18:49:08');
  await kit.ask('update_peer', { id: 'app-2', labels: { role: 'app', env: 'staging' } });
  await pass('18:49:33');
  await online(['ci', 'db-1', 'app-1', 'app-2', 'web-1', 'laptop-7']);
  await pass('18:49:59');
  await kit.ask('delete_policy', { id: 'ci-frozen' });
  await pass('18:50:05');
  const { items: policies } = await kit.services.store.list(kit.workspace, 'MeshPolicy');
  const own = policies.find(({ name }) => name === 'allow-to-app-1')?.name;
  await kit.ask('delete_policy', { id: own });
  await pass('18:50:07');
  await asBot('block ci from db-1');
  await pass('18:54:00');
  await kit.ask('delete_peer', { id: 'web-stg' });
  await pass('18:55:32');
  await kit.ask('delete_policy', { id: 'laptops-closed' });
  await pass('18:56:00');
  await asBot('let laptop-7 ssh to web-2 for 2 hours');
  await pass('18:57:17');
  return { ...kit, [Symbol.asyncDispose]: () => kit[Symbol.asyncDispose]() };
}
