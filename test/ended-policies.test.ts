import { expect, test } from 'vitest';
import { inForce } from '../client/agent/in-force.ts';
import { buildWorkspaceKit } from './kits/plane/workspace-kit.ts';

const TTL_MS = 10_000;
const PAIR = { src: 'web-1', dst: 'db-1' };
const EVERYTHING = [{}];

/** No job runs here: as while nobody leads the workspace. */
async function withPolicy(action: 'ALLOW' | 'DENY') {
  const kit = await buildWorkspaceKit();
  const [web] = [await kit.join('web-1'), await kit.join('db-1')];
  if (action === 'ALLOW') {
    await kit.ask('create_policy', { name: 'isolates', spec: { action, peerSelector: {}, ingress: [], egress: [] } });
  }
  const spec = { action, peerSelector: {}, ingress: EVERYTHING, egress: EVERYTHING };
  await kit.ask('create_policy', { name: 'for-a-while', spec, ttl: '10s' });
  const graph = () => kit.call('get_own_graph', {}, web.self);
  const verdict = async () => (await kit.ask('check_connectivity', PAIR)).verdict;
  return { kit, graph, verdict };
}

test('what a policy opens is closed at its end by every answer and by nodes themselves, whoever deletes it when', async () => {
  const { kit, graph, verdict } = await withPolicy('ALLOW');
  await using _ = kit;
  const before = await graph();
  const endsAt = kit.clock.time + TTL_MS;
  const shown = (now: number) => {
    const { full } = inForce(before, now).graph?.firewall ?? {};
    return [full?.in.length, full?.out.length];
  };
  expect([await verdict(), shown(endsAt - 1), shown(endsAt)]).toEqual(['reachable', [1, 1], [0, 0]]);
  kit.clock.time = endsAt;
  expect([await verdict(), (await graph()).peers]).toEqual(['unreachable', []]);
  expect((await graph()).firewall.full).toEqual({ in: [], out: [] });
  const { items } = await kit.ask('list_policies');
  expect(items.map(({ name }: { name: string }) => name)).toContain('for-a-while');
});

test('what a policy closes is open at its end in every answer and every graph that is asked for', async () => {
  const { kit, graph, verdict } = await withPolicy('DENY');
  await using _ = kit;
  expect([await verdict(), (await graph()).peers]).toEqual(['unreachable', []]);
  kit.clock.time += TTL_MS;
  expect([await verdict(), (await graph()).peers]).toMatchObject(['reachable', [{ name: 'db-1' }]]);
  const { full } = (await graph()).firewall;
  expect([full.in.length, full.out.length]).toEqual([1, 1]);
});
