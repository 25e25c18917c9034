import { draftOf } from '../../../core/base/record.ts';
import type { PathReport } from '../../../core/model/reported-paths.ts';
import { ADMIN_PASSWORD, type Harness } from '../http/harness.ts';
import { presence } from '../records/records.ts';
import { seedPeers } from '../records/seed-peers.ts';

export const OWN_PASSWORD = 'a password of my own 42';
export const VIEWER_PASSWORD = 'only looking 42 times';
/** A value of a label that is markup. */
export const HOSTILE = '<img src=x onerror=alert(1)>';

const FIRST_PASSWORD = 'to be changed at once 42';
/** Who is online is so for all tests of a file, however long they take: nobody beats for them. */
const STAY_MS = 3_600_000;
const SINCE = '2026-01-05T12:00:00Z';

function peersOfShop(): Record<string, Record<string, string>> {
  const some = (count: number, name: string, labels: Record<string, string>) =>
    Array.from({ length: count }, (_, n) => [`${name}-${n + 1}`, labels] as const);
  return Object.fromEntries([
    ...some(6, 'web', { role: 'web', env: 'prod' }),
    ...some(4, 'api', { role: 'api', env: 'prod' }),
    ...some(2, 'db', { role: 'db', env: 'prod' }),
    ...some(3, 'build', { role: 'build', env: 'test' }),
    ['laptop-anna', { role: 'laptop' }],
    ['laptop-ben', { role: 'laptop' }],
    ['odd', { role: HOSTILE }],
    ['printer', {}],
  ]);
}

const role = (name: string) => ({ peerSelector: { matchLabels: { role: name } } });
const admits = (name: string, from: readonly object[], port: number) => ({
  name: `${name}-in`,
  spec: { action: 'ALLOW', ...role(name), ingress: [{ from, ports: [{ port }] }] },
});

/** A shop with real-looking names: policies, paths that nodes reported, an assertion, an administrator and a viewer. */
export async function shopNetwork(harness: Harness, slug = 'prod') {
  const { token, workspace } = await harness.workspace(slug);
  const { services } = harness.plane;
  const shop = peersOfShop();
  await seedPeers(services, workspace, shop);
  const ask = async (method: string, route: string, body: unknown) => {
    const answer = await harness.api(method, route, { token, workspace, body });
    if (answer.status >= 300) throw new Error(`${route}: ${answer.text}`);
  };
  const policies = [
    admits('web', [{ ipBlock: { cidr: '203.0.113.0/24' } }, role('laptop')], 443),
    admits('api', [role('web')], 8080),
    admits('db', [role('api')], 5432),
    admits('build', [role('laptop')], 22),
  ];
  for (const policy of policies) await ask('POST', '/api/v1/policies', policy);
  const never = { src: 'role=web', dst: 'role=db', expect: 'unreachable' };
  await ask('POST', '/api/v1/assertions', { name: 'web-not-to-db', ...never });

  const state = await services.states.current(workspace);
  const online = [...state.peers.keys()].filter((name) => !name.startsWith('build'));
  const ops = online.map((name) => ({ op: 'create' as const, record: draftOf(presence(name, true)) }));
  await services.store.commit(workspace, ops, { actor: 'system:test', reason: 'seed', requestId: 'seed' });
  const uidOf = (name: string) => state.peers.get(name)?.uid ?? '';
  for (const name of online) services.liveness.heard(workspace, uidOf(name), services.clock.now() + STAY_MS);
  const report = (peer: string, path: PathReport['path']): PathReport => ({
    peer: uidOf(peer),
    transport: path === 'direct' ? 'ice-ready' : path === 'relayed' ? 'lrp-ready' : 'failed',
    path,
    reason: path === 'direct' ? 'connected' : 'no-direct-path',
    since: SINCE,
  });
  services.paths.report(workspace, uidOf('web-1'), [report('api-1', 'direct'), report('api-2', 'direct')]);
  services.paths.report(workspace, uidOf('api-1'), [report('db-1', 'relayed'), report('db-2', 'direct')]);
  services.paths.report(workspace, uidOf('laptop-anna'), [report('web-1', 'relayed'), report('build-1', null)]);

  const viewer = { username: 'vera', password: FIRST_PASSWORD, role: 'user' };
  await ask('POST', '/api/v1/users', viewer);
  await ask('PUT', `/api/v1/workspaces/${workspace}/members/vera`, { role: 'viewer' });
  const looking = { token: await harness.login('vera', FIRST_PASSWORD), workspace };
  const own = { oldPassword: FIRST_PASSWORD, newPassword: VIEWER_PASSWORD };
  await harness.api('PUT', '/api/v1/users/me/password', { ...looking, body: own });
  const passwords = { oldPassword: ADMIN_PASSWORD, newPassword: OWN_PASSWORD };
  await ask('PUT', '/api/v1/users/me/password', passwords);
  return { workspace };
}
