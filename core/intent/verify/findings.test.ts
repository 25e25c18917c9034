import { describe, expect, it } from 'vitest';
import { agent as agentCaller, buildKit, type Kit, person } from '../../../test/kits/plane/kit.ts';
import { agent, peer, policy, stateWith } from '../../../test/kits/records/records.ts';
import { seedPeers } from '../../../test/kits/records/seed-peers.ts';
import { beyondAuthority } from '../../authority/judge.ts';
import { writesOf } from '../../authority/writes.ts';
import type { StoredRecord } from '../../base/record.ts';
import { type NetworkChange, planChanges } from '../../changes/changes.ts';
import { effectOf } from '../../effect/effect.ts';
import type { PolicySpec } from '../../model/policy.ts';
import { SIGN_IN_DEFAULTS } from '../../model/sign-in-rules.ts';
import { compile } from '../../reachability/engine.ts';
import { modelOf } from '../../state/network-model.ts';
import { recordIn } from '../../state/state.ts';
import type { Expectation } from './expectation.ts';
import { findingsOf, type Judged } from './findings.ts';

const NOW = Date.UTC(2026, 0, 5, 12);
const SETTINGS = {
  version: '0',
  apiUrl: 'http://10.96.0.9:18090',
  signalingUrl: 'nats://203.0.113.1:4222',
  relays: [{ name: 'main', url: '203.0.113.1:6266' }],
  stunUrls: ['203.0.113.1:3478'] as const,
  registrationProof: 'optional' as const,
  listens: { api: { host: '127.0.0.1', tls: false }, bus: undefined },
  logKeySince: 0,
  planTtlMs: 1,
  signIn: SIGN_IN_DEFAULTS,
  webhookAllow: [],
};
const NOTHING_AHEAD = { views: [], digest: '' };
const WEB = peer('web-1', { labels: { role: 'web' }, address: '10.96.0.1' });
const DB = peer('db-1', { labels: { role: 'db' }, address: '10.96.0.2' });
const PLANE = peer('plane', { address: '10.96.0.9' });
const DESK = peer('desk', { labels: { role: 'admin' } });
const write = (name: string, spec: PolicySpec): NetworkChange => ({
  action: 'create',
  resource: 'MeshPolicy',
  name,
  spec,
});
const only = (role: string) => ({ matchLabels: { role } });

function found(records: readonly StoredRecord[], changes: readonly NetworkChange[], more: Partial<Judged> = {}) {
  const before = stateWith(...records);
  const { after } = planChanges(before, changes, NOW);
  const [was, is] = [compile(modelOf(before, NOW)), compile(modelOf(after, NOW))];
  const effect = effectOf(was, is);
  const policies = new Set(changes.map(({ name }) => name));
  return findingsOf({
    before,
    after,
    said: undefined,
    was,
    is,
    effect,
    policies,
    expectations: [],
    later: [],
    bounds: 'none',
    beyond: undefined,
    future: { opened: NOTHING_AHEAD, closed: NOTHING_AHEAD, newcomers: new Map() },
    callerPeer: undefined,
    settings: SETTINGS,
    controls: [],
    ...more,
  }).map(({ code, blocks, message }) => [code, blocks, message]);
}

function beyondOf(records: readonly StoredRecord[], changes: readonly NetworkChange[], id: string) {
  const state = stateWith(...records);
  const { ops } = planChanges(state, changes, NOW);
  const states = { reachability: (of: typeof state, now: number) => compile(modelOf(of, now)) };
  const writes = writesOf(ops, ({ kind, name }) => recordIn(state, kind, name));
  return beyondAuthority(id, { states, state, writes, now: NOW });
}

describe('of a proposal is found', () => {
  it('a rule that other policies make useless, and a selector that means nobody, as warnings', () => {
    const wide = policy('wide', {
      action: 'ALLOW',
      peerSelector: only('db'),
      ingress: [{ from: [{ peerSelector: only('web') }] }],
    });
    const again: PolicySpec = {
      action: 'ALLOW',
      peerSelector: only('db'),
      ingress: [{ from: [{ peerSelector: only('web') }], ports: [{ protocol: 'TCP', port: 1 }] }],
    };
    expect(
      found([WEB, DB, wide], [write('again', again), write('none', { action: 'DENY', peerSelector: only('ghost') })]),
    ).toEqual([
      [
        'RULE_IS_SHADOWED',
        false,
        'again: other ALLOW rules already allow all of it: wide. Remove the rule; a DENY that has no other rule goes as a whole',
      ],
      ['SELECTS_NO_PEER', false, 'none: its peerSelector matches no peer. Correct its peerSelector, or delete it'],
    ]);
  });

  it('any to any, which blocks unless it is what was asked for', () => {
    const open = write('open', { action: 'ALLOW', peerSelector: {}, ingress: [{}] });
    expect(found([WEB, DB], [open])).toEqual([
      [
        'ANY_TO_ANY',
        true,
        'open: it lets anyone reach every peer. Say who may reach whom: give it a peerSelector, or its rule from or to',
      ],
    ]);
    const asked = found([WEB, DB], [open], { expectations: [{ src: '*', dst: '*', expect: 'allow' }] });
    expect(asked.map(([code, blocks]) => [code, blocks])).toEqual([
      ['CHANGES_NOTHING', false],
      ['ANY_TO_ANY', false],
    ]);
  });

  it('that addresses which are no peer are let in or out, unless everyone is expected or the sentence says it, and as a question where code brings a past state back', () => {
    const base = policy('base', { action: 'DENY', peerSelector: {} });
    const block = { ipBlock: { cidr: '203.0.113.0/24', except: ['203.0.113.0/25'] } };
    const spec = (from: NonNullable<PolicySpec['ingress']>[number]['from']): PolicySpec => ({
      action: 'ALLOW',
      peerSelector: only('web'),
      ingress: [{ from, ports: [{ protocol: 'TCP', port: 443 }] }],
    });
    const web: Expectation = { src: 'db-1', dst: 'web-1', protocol: 'TCP', port: 443, expect: 'allow' };
    const said = (change: NetworkChange) => {
      const before = stateWith(WEB, DB, base);
      const reach = (state: typeof before) => compile(modelOf(state, NOW));
      return effectOf(reach(before), reach(planChanges(before, [change], NOW).after));
    };
    const codes = (change: NetworkChange, more: Partial<Judged> = {}) =>
      found([WEB, DB, base], [change], { bounds: 'all', expectations: [web], ...more }).flatMap(
        ([code, blocks, message]) => (code === 'OPENS_MORE' ? [[blocks, message]] : []),
      );
    const [some, anyone] = [write('some', spec([block])), write('anyone', spec(undefined))];
    expect(codes(some)).toEqual([[true, 'it would open 203.0.113.128/25 to web-1 on TCP 443, which was not expected']]);
    expect(codes(anyone)).toEqual([[true, 'it would open outside to web-1 on TCP 443, which was not expected']]);
    expect(codes(some, { said: () => said(some) })).toEqual([]);
    expect(codes(some, { bounds: 'asks' }).map(([blocks]) => blocks)).toEqual([false]);
    expect(codes(some, { expectations: [{ ...web, src: '*' }] })).toEqual([]);
    expect(codes(some, { expectations: [{ ...web, src: '*', port: 80 }] })).toHaveLength(1);
    const out: PolicySpec = { action: 'ALLOW', peerSelector: only('web'), egress: [{ to: [block] }] };
    expect(codes(write('out', out))).toEqual([
      [true, 'it would open web-1 to 203.0.113.128/25 on everything, which was not expected'],
    ]);
  });

  it('that nodes could not reach a control plane that is a peer at an https address, which has port 443', () => {
    const close = write('close', { action: 'ALLOW', peerSelector: { matchLabels: { x: 'y' } }, ingress: [] });
    const labeled = peer('plane', { address: '10.96.0.9', labels: { x: 'y' } });
    const settings = { ...SETTINGS, apiUrl: 'https://10.96.0.9' };
    expect(found([WEB, DB, labeled], [close], { settings })[0]?.[2]).toContain('(TCP 443)');
  });

  it('that nodes could not reach a control plane that is itself a peer', () => {
    const close = write('close', { action: 'ALLOW', peerSelector: { matchLabels: { x: 'y' } }, ingress: [] });
    const labeled = peer('plane', { address: '10.96.0.9', labels: { x: 'y' } });
    expect(found([WEB, DB, labeled], [close])[0]).toEqual([
      'CONTROL_LOCKED_OUT',
      true,
      'web-1 and others like it could not reach the control plane at plane (TCP 18090) any more',
    ]);
    expect(found([WEB, DB, PLANE], [write('db', { action: 'DENY', peerSelector: only('db'), ingress: [{}] })])).toEqual(
      [],
    );
  });

  it('that the caller, or an administrator, could not reach anything any more', () => {
    const cut = write('cut', {
      action: 'DENY',
      peerSelector: { matchExpressions: [{ key: 'role', operator: 'In', values: ['web', 'admin'] }] },
      egress: [{}],
    });
    expect(found([WEB, DB, DESK], [cut], { callerPeer: 'web-1' }).map(([code]) => code)).toEqual([
      'CALLER_LOCKED_OUT',
      'ADMIN_LOCKED_OUT',
    ]);
  });

  it('that a delegated agent would open through others what it may not reach itself', () => {
    const base = policy('base', { action: 'DENY', peerSelector: {} });
    const boss = agent('boss', { reach: [{ to: [{ peerSelector: only('db') }] }] });
    const child = agent('child', { parentRef: { name: 'boss', namespace: 'test' } }, { peerRef: 'child-1' });
    const childPeer = peer('child-1', { agentRef: 'child' });
    const records = [WEB, DB, base, boss, child, childPeer];
    const open = (role: string) => [
      write('in', { action: 'ALLOW', peerSelector: only(role), ingress: [{ from: [{ peerSelector: {} }] }] }),
      write('out', {
        action: 'ALLOW',
        peerSelector: { matchExpressions: [{ key: 'role', operator: 'NotIn', values: [role] }] },
        egress: [{ to: [{ peerSelector: only(role) }] }],
      }),
    ];
    const codes = (role: string, requesterId: string) =>
      found(records, open(role), { beyond: beyondOf(records, open(role), requesterId) })
        .filter(([, blocks]) => blocks)
        .map(([code]) => code);
    expect(codes('web', child.uid)).toEqual(['BEYOND_DELEGATION']);
    expect(codes('db', child.uid)).toEqual([]);
    expect(codes('web', boss.uid)).toEqual([]);
  });
});

async function scene(kit: Kit) {
  const workspace = await kit.workspace();
  await seedPeers(kit.services, workspace, { 'web-1': { role: 'web' }, 'db-1': { role: 'db' } });
  return workspace;
}

describe('a person on the network', () => {
  it('is known by the overlay address of the request, and not let out of the house unawares', async () => {
    await using kit = await buildKit();
    const workspace = await scene(kit);
    const as = person('operator', workspace);
    const plan = (origin: string) =>
      kit.call('plan_network_change', { intent: 'isolate web-1' }, { as, workspace, origin });
    expect(await plan('203.0.113.7')).toMatchObject({ verified: true });
    const own = await plan('10.96.0.1');
    expect(own).toMatchObject({
      verified: false,
      unmet: ['web-1, the peer that asks for this, could not reach anything any more'],
    });
    await expect(
      kit.call('apply_network_change', { plan_id: own.plan_id }, { as, workspace, face: 'mcp' }),
    ).rejects.toMatchObject({ code: 'forbidden' });
    const trusted = agentCaller(['intents:apply', 'intents:override'], workspace, { id: as.id });
    expect(
      await kit.call('apply_network_change', { plan_id: own.plan_id }, { as: trusted, workspace, face: 'mcp' }),
    ).toMatchObject({ status: 'pending_approval' });
  });
});
