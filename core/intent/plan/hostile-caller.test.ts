import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { agent, buildKit, type Kit } from '../../../test/kits/plane/kit.ts';
import { peer, policy } from '../../../test/kits/records/records.ts';
import { draftOf, type StoredRecord } from '../../base/record.ts';

const role = (name: string) => ({ matchLabels: { role: name } });
const open = (name: string, subject: string, other: string) => ({
  action: 'create',
  resource: 'MeshPolicy',
  name,
  spec: {
    action: 'ALLOW',
    peerSelector: role(subject),
    ingress: [{ from: [{ peerSelector: role(other) }] }],
    egress: [{ to: [{ peerSelector: role(other) }] }],
  },
});
const BOTH = [open('in', 'db', 'web'), open('out', 'web', 'db')];
const PROMOTED = { action: 'update', resource: 'MeshPeer', name: 'guest-1', spec: { labels: { role: 'web' } } };
const OLD_GONE = { action: 'delete', resource: 'MeshPolicy', name: 'old' };
const WEB = { src: 'role=web', dst: 'role=db', expect: 'allow' };
const BACK = { src: 'role=db', dst: 'role=web', expect: 'allow' };

let kit: Kit;
let workspace: string;
beforeAll(async () => {
  kit = await buildKit();
  workspace = await kit.workspace();
  const records: readonly StoredRecord[] = [
    ...['web', 'db', 'guest'].map((name) => peer(`${name}-1`, { labels: { role: name } })),
    policy('base', { action: 'DENY', peerSelector: {} }),
    policy('old', { action: 'ALLOW', peerSelector: role('nobody'), ingress: [] }),
  ];
  const ops = records.map((record) => ({ op: 'create' as const, record: draftOf(record) }));
  await kit.services.store.commit(workspace, ops, { actor: 'system:test', reason: 'seed', requestId: 'seed' });
});
afterAll(() => kit[Symbol.asyncDispose]());

const plan = (raw: Record<string, unknown>) => {
  const as = agent(['network:read', 'intents:plan', 'intents:apply'], workspace);
  return kit.call('plan_network_change', { intent: 'as discussed', ...raw }, { as, workspace });
};

describe('a hostile caller', () => {
  it.each<[string, readonly unknown[], readonly unknown[], boolean | null]>([
    ['that gives a peer the label that is let in', [...BOTH, PROMOTED], [WEB, BACK], true],
    [
      'that expects a peer not to reach itself',
      [open('in', 'db', 'web')],
      [{ src: 'db-1', dst: 'db-1', expect: 'deny' }],
      true,
    ],
    ['that excepts all whom it names', BOTH, [{ ...WEB, except: ['role=web'], expect: 'deny' }], true],
    ['that expects what has nothing to do with it', BOTH, [{ src: 'guest-1', dst: 'db-1', expect: 'deny' }], true],
    ['that expects nothing', BOTH, [], null],
  ])('%s has no check', async (_name, changes, expectations, hold) => {
    expect(await plan({ changes, expectations })).toMatchObject({
      verified: false,
      check: 'not checked',
      expectations_hold: hold,
    });
  });

  it('that expects just what its changes do is not checked either, and what it expects is told apart', async () => {
    const intent = 'routine maintenance: give web its usual access';
    const made = await plan({ intent, changes: BOTH, expectations: [WEB, BACK] });
    expect(made).toMatchObject({
      ...{ read_by: 'agent', check: 'not checked', verified: false, expectations_hold: true, unmet: [] },
      diff_markdown: expect.stringContaining("## The caller's expectations hold"),
    });
    expect(made.diff_markdown).not.toMatch(/proven|\*\*matches/i);
  });

  it('cannot widen what its intent says by an expectation of its own', async () => {
    const intent = 'let role=web reach role=db';
    expect(await plan({ intent, changes: BOTH, expectations: [BACK] })).toMatchObject({
      check: 'differs',
      unmet: [expect.stringContaining('it would open db-1 to web-1')],
    });
  });

  it('that has a policy deleted, as it says, and opens more differs from its intent', async () => {
    const intent = 'delete policy old';
    expect(await plan({ intent, changes: [OLD_GONE] })).toMatchObject({ check: 'matches' });
    expect(await plan({ intent, changes: [OLD_GONE, ...BOTH] })).toMatchObject({
      check: 'differs',
      unmet: expect.arrayContaining([
        'it would open web-1 to db-1 on everything, which is not in the sentence as it was read',
      ]),
    });
  });

  it('cannot take the policy that closes everything away at less than the highest risk', async () => {
    const changes = [{ action: 'delete', resource: 'MeshPolicy', name: 'base' }];
    expect(await plan({ changes })).toMatchObject({
      risk_level: 'critical',
      risk_reasons: [
        'lets addresses outside of the network in on the management port 22',
        'opens the network default by default',
        'opens almost every port of a protocol, or all',
        'lets anyone in, from outside the network too',
        'lets peers out to anyone, outside the network too',
        'opens connections of devices that join later',
        'it takes connections from those that the policy base denies',
      ],
    });
  });
});
