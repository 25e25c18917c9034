import { describe, expect, it } from 'vitest';
import { buildKit, person } from '../../../test/kits/plane/kit.ts';
import { seedPeers } from '../../../test/kits/records/seed-peers.ts';
import type { PolicySpec } from '../../model/policy.ts';

const IDLE = 'it is so already';
const CLOSED: PolicySpec = { action: 'DENY', peerSelector: {} };
const only = (role: string) => ({ matchLabels: { role } });
const entry = (role: string) => [{ peerSelector: only(role) }];
const ports = [{ protocol: 'TCP' as const, port: 5432 }];
/** Web reaches db on 5432, and nothing else is open. */
const POLICIES: Readonly<Record<string, PolicySpec>> = {
  base: CLOSED,
  'db-in': { action: 'ALLOW', peerSelector: only('db'), ingress: [{ from: entry('web'), ports }] },
  'web-out': { action: 'ALLOW', peerSelector: only('web'), egress: [{ to: entry('db'), ports }] },
};
/** Beside these, nothing that ci may ever reach. */
const DENIED: Readonly<Record<string, PolicySpec>> = {
  ...POLICIES,
  'no-ci': { action: 'DENY', peerSelector: only('db'), ingress: [{ from: entry('ci') }] },
};

async function scene(policies: Readonly<Record<string, PolicySpec>>) {
  const kit = await buildKit();
  const workspace = await kit.workspace();
  const labeled = (role: string) => ({ role });
  await seedPeers(kit.services, workspace, {
    ...{ 'web-1': labeled('web'), 'web-2': labeled('web'), 'db-1': labeled('db'), 'db-2': labeled('db') },
    ...{ 'api-1': labeled('api'), 'api-2': labeled('api'), 'ci-1': labeled('ci'), 'ci-2': labeled('ci') },
  });
  for (const [name, spec] of Object.entries(policies))
    await kit.call('create_policy', { name, spec }, { as: person('admin', workspace), workspace });
  const plan = (intent: string, more: object = {}) =>
    kit.call(
      'plan_network_change',
      { intent, dry_run: true, ...more },
      { as: person('operator', workspace), workspace },
    );
  const idle = async (intent: string, more: object = {}): Promise<string | undefined> =>
    (await plan(intent, more)).warnings.find((one: string) => one.startsWith(IDLE));
  return { plan, idle, [Symbol.asyncDispose]: () => kit[Symbol.asyncDispose]() };
}

describe('what is so already', () => {
  it.each([
    ['let web reach db on 5432', ['db-in', 'web-out']],
    ['block ci from db', ['no-ci']],
    ['let web reach db on 5432; block ci from db', ['db-in', 'no-ci', 'web-out']],
  ])('is said with the policies that make it so: "%s"', async (intent, policies) => {
    await using on = await scene(DENIED);
    const { already, made_so_by } = await on.plan(intent);
    expect({ already, made_so_by: made_so_by.toSorted() }).toEqual({ already: true, made_so_by: policies });
  });

  it('is said of one of several orders, and of no other', async () => {
    await using on = await scene(DENIED);
    const text = (await on.idle('let api reach db on 443; block ci from db')) ?? '';
    expect(text).toContain('deny role=ci to role=db');
    expect(text).not.toContain('allow');
    expect(await on.idle('let api reach db on 443')).toBeUndefined();
  });

  it.each([
    ['isolate db except from web on 5432', {}],
    ['let everyone except ci reach db on 443', POLICIES],
    ['let only web reach db', {}],
    ['let only api and web reach db on 5432', {}],
    ['limit db to 5432', {}],
  ])('is not said of what an order only keeps: "%s"', async (intent, policies) => {
    await using on = await scene(policies);
    const { check, warnings } = await on.plan(intent);
    expect([check, warnings.filter((one: string) => one.startsWith(IDLE))]).toEqual(['matches', []]);
  });

  it('is said of typed changes that open and close nothing of what they are held to', async () => {
    await using on = await scene(POLICIES);
    const spec = { action: 'DENY', peerSelector: only('db'), ingress: [{ from: entry('ci') }] };
    const changes = [{ action: 'create', resource: 'MeshPolicy', name: 'no-ci', spec }];
    const expectations = [{ src: 'role=ci', dst: 'role=db', expect: 'deny' }];
    const plan = await on.plan('frobnicate the database', { changes, expectations });
    expect(plan.warnings).toContainEqual('nothing opens and nothing closes when this plan is applied');
  });
});
