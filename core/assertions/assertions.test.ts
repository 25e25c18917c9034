import { describe, expect, it } from 'vitest';
import { agent, buildKit, type Kit, person } from '../../test/kits/plane/kit.ts';
import { peer, policy, stateWith } from '../../test/kits/records/records.ts';
import { seedPeers } from '../../test/kits/records/seed-peers.ts';
import { compile } from '../reachability/engine.ts';
import { modelOf } from '../state/network-model.ts';
import type { AssertionSpec } from './assertion.ts';
import { checker } from './check.ts';

const NOW = Date.UTC(2026, 0, 5, 12);
const WEB = ['web-1', 'web-2'].map((name) => peer(name, { labels: { role: 'web' } }));
const DB = peer('db-1', { labels: { role: 'db' } });
const ONLY_WEB = policy('web-to-db', {
  action: 'ALLOW',
  peerSelector: { matchLabels: { role: 'db' } },
  ingress: [{ from: [{ peerSelector: { matchLabels: { role: 'web' } } }], ports: [{ protocol: 'TCP', port: 5432 }] }],
});
const STATE = stateWith(...WEB, DB, peer('laptop'), ONLY_WEB);
const check = checker(STATE, compile(modelOf(STATE, NOW)));

describe('an assertion', () => {
  it.each<AssertionSpec>([
    { src: 'role=web', dst: 'role=db', protocol: 'TCP', port: 5432, expect: 'reachable' },
    { src: 'role=web', dst: 'db-1', protocol: 'UDP', expect: 'unreachable' },
    { src: 'role=guest', dst: 'role=db', expect: 'unreachable' },
    { src: 'role=web', dst: 'role=web', expect: 'reachable' },
    { src: 'role=db', dst: '*', expect: 'reachable' },
  ])('holds: %j', (spec) => {
    expect(check(spec)).toBeUndefined();
  });

  it('that does not hold names a pair, how many there are, and the policy and rule that decide', () => {
    expect(check({ src: '*', dst: 'role=db', protocol: 'TCP', port: 5432, expect: 'reachable' })).toEqual({
      detail: '* must reach role=db on TCP 5432, but laptop could not reach db-1 because of the policy web-to-db',
      from: 'laptop',
      to: 'db-1',
      pairs: 1,
      reason_code: 'INGRESS_ISOLATED',
      policy: 'web-to-db',
      rule_index: null,
    });
    expect(
      check({ src: 'role=web', dst: 'role=db', protocol: 'TCP', port: 5432, expect: 'unreachable' }),
    ).toMatchObject({
      from: 'web-1',
      to: 'db-1',
      pairs: 2,
      reason_code: 'ALLOWED_BY_RULE',
      policy: 'web-to-db',
      rule_index: 0,
    });
  });

  it('of a range of ports asks for all of them, or for none', () => {
    const range = { src: 'role=web', dst: 'role=db', protocol: 'TCP', port: 5432, endPort: 5433 } as const;
    expect(check({ ...range, expect: 'reachable' })?.pairs).toBe(2);
    expect(check({ ...range, expect: 'unreachable' })?.pairs).toBe(2);
  });

  it('about a name that no peer has never holds, so that a misspelt one is seen', () => {
    expect(check({ src: 'dbb-1', dst: 'db-1', expect: 'unreachable' })?.detail).toBe('there is no peer dbb-1');
    expect(check({ src: 'role=guest', dst: 'db-1', expect: 'reachable' })?.detail).toContain('no two peers');
  });
});

async function scene(kit: Kit) {
  const workspace = await kit.workspace();
  await seedPeers(kit.services, workspace, { 'web-1': { role: 'web' }, 'db-1': { role: 'db' }, laptop: {} });
  const as = person('admin', workspace, 'ada');
  const call = (name: string, raw: Record<string, unknown>, caller = as) =>
    kit.call(name, raw, { as: caller, workspace });
  return { workspace, call };
}

const STAYS_OPEN = { src: 'role=web', dst: 'role=db', protocol: 'TCP', port: 5432, expect: 'reachable' };
const NO_GUEST = { name: 'no-guest', src: 'role=guest', dst: 'role=db', expect: 'unreachable' };

describe('the guard', () => {
  it('accepts only what holds now, under a name made of what it says', async () => {
    await using kit = await buildKit();
    const { call } = await scene(kit);
    expect(await call('create_assertion', STAYS_OPEN)).toMatchObject({
      name: 'role-web-reaches-role-db-tcp-5432',
      spec: STAYS_OPEN,
      status: { holds: true, detail: null },
    });
    await expect(call('create_assertion', { ...STAYS_OPEN, name: 'x', expect: 'unreachable' })).rejects.toMatchObject({
      code: 'policy_assertion_failed',
      details: { failed: 1, failures: [{ from: 'web-1', to: 'db-1', pairs: 1 }] },
    });
    await expect(call('create_assertion', STAYS_OPEN)).rejects.toMatchObject({ code: 'conflict' });
  });

  it('holds for labels, for names and for devices that join, but never keeps a device from being shut out', async () => {
    await using kit = await buildKit();
    const { call } = await scene(kit);
    await call('create_assertion', NO_GUEST);
    await expect(call('update_peer', { id: 'laptop', labels: { role: 'guest' } })).rejects.toMatchObject({
      code: 'policy_assertion_failed',
      details: { failures: [{ name: 'no-guest', from: 'laptop', to: 'db-1', pairs: 1 }] },
    });
    await call('create_assertion', { name: 'by-name', src: 'laptop', dst: 'web-1', expect: 'reachable' });
    await expect(call('update_peer', { id: 'laptop', name: 'desk' })).rejects.toMatchObject({
      code: 'policy_assertion_failed',
    });
    await expect(call('revoke_peer', { id: 'laptop' })).resolves.toBeDefined();
    const { items } = await call('list_assertions', {});
    expect(items.map(({ name, status }: { name: string; status: unknown }) => [name, status])).toEqual([
      ['by-name', { holds: false, detail: 'no two peers that are ready are meant' }],
      ['no-guest', { holds: true, detail: null }],
    ]);
  });

  it('is taken away by nobody alone where writes need approval', async () => {
    await using kit = await buildKit();
    const { workspace, call } = await scene(kit);
    await call('create_assertion', NO_GUEST);
    await call('update_workspace', { settings: { requireApproval: true } }, person('platform_admin', workspace));
    const writer = agent(['network:read', 'network:write'], workspace);
    for (const as of [writer, person('admin', workspace)]) {
      const answer = await call('delete_assertion', { id: 'no-guest' }, as);
      expect(answer).toMatchObject({ status: 'pending_approval', workflow_id: expect.stringMatching(/^wf_/) });
    }
    expect(await call('get_assertion', { id: 'no-guest' })).toMatchObject({ name: 'no-guest' });
  });
});
