import { expect, test } from 'vitest';
import { carryOut } from '../../test/kits/plane/carry-out.ts';
import { person } from '../../test/kits/plane/kit.ts';
import { type playHistory as play, playHistory } from '../../test/kits/plane/random-history.ts';
import { formatInstant } from '../base/time.ts';

type Writes = Parameters<typeof play>[0][number]['writes'];
const DB = { matchLabels: { role: 'db' } };
const isolate = { do: 'policy', name: 'p1', spec: { action: 'DENY', peerSelector: DB }, ttl: undefined } as const;
const isolateBots = { ...isolate, spec: { action: 'DENY', peerSelector: { matchLabels: { role: 'bot' } } } } as const;
const block = { peerSelector: {}, ingress: [{ from: [{ ipBlock: { cidr: '10.96.0.9/32' } }] }] };
const open: Writes[number] = {
  do: 'policy',
  name: 'p2',
  spec: { action: 'ALLOW', peerSelector: DB, ingress: [{ from: ['*'] }] },
  ttl: 2,
};
const byChild: Writes[] = [
  [{ do: 'agent', name: 'root', ttl: undefined }],
  [{ do: 'agent', name: 'child', ttl: undefined }],
  [{ do: 'remove', name: 'web-1' }],
  [{ do: 'join', name: 'web-1', role: 'web', ttl: undefined, by: 'child' }],
];

/** What web-1 reached of db-1 is broken by the last write; the times of all policies end within it. */
async function withBroken(batches: readonly Writes[]) {
  const played = await playHistory(batches.map((writes) => ({ wait: 1, writes })));
  const { kit, workspace, began } = played;
  const admin = person('admin', workspace);
  const asked = { src: 'web-1', dst: 'db-1', from: formatInstant(began + 1_000) };
  const ask = () => kit.call('find_cause', asked, { as: admin, workspace });
  const now = () => kit.call('check_connectivity', { src: 'web-1', dst: 'db-1' }, { as: admin, workspace });
  return { kit, workspace, ask, now };
}

const verdicts = { before: { verdict: 'reachable' }, after: { verdict: 'unreachable' } };

test.each<[string, ...Writes[]]>([
  ['policy', [isolate]],
  ['label', [isolateBots], [{ do: 'label', name: 'web-1', role: 'bot' }]],
  ['network', [{ do: 'network', action: 'DENY' }]],
  ['network', [{ do: 'move', name: 'db-1', to: 'lab' }]],
  ['delegation_bound', ...byChild, [{ do: 'label', name: 'db-1', role: 'bot' }]],
  ['expiry', [isolate], [open]],
])(
  'what was broken by %s is brought back by the plan of its finding, once that is approved',
  async (cause, ...batches) => {
    const { kit, workspace, ask, now } = await withBroken(batches);
    await using _ = kit;
    const [found] = (await ask()).findings;
    expect(found).toMatchObject({ ...verdicts, causes: [{ cause }], no_restore: null });
    // A policy that is there again opens more than the connection that was asked about, and that is asked with the plan.
    expect(found.restore.verified).toBe(cause !== 'expiry');
    expect((await now()).verdict).toBe('unreachable');
    await carryOut(kit, workspace, found.restore.plan_id);
    expect((await now()).verdict).toBe('reachable');
    expect((await ask()).findings).toContainEqual(
      expect.objectContaining({ change: expect.objectContaining({ reviewed_by: expect.stringContaining('root') }) }),
    );
  },
);

const isolateOthers = (name: 'p2' | 'p3', role: string) =>
  ({ do: 'policy', name, spec: { action: 'DENY', peerSelector: { matchLabels: { role } } }, ttl: undefined }) as const;

test('a pair is mended by the one policy of a revision that broke it, and what else the revision made stays', async () => {
  const batch = [isolate, isolateOthers('p2', 'bot'), isolateOthers('p3', 'nobody')];
  const { kit, workspace, ask, now } = await withBroken([batch]);
  await using _ = kit;
  const { restore } = (await ask()).findings[0];
  expect(restore).toMatchObject({ changes: [{ action: 'delete', resource: 'MeshPolicy', name: 'p1' }], beyond: null });
  await carryOut(kit, workspace, restore.plan_id);
  expect((await now()).verdict).toBe('reachable');
  const { policies } = await kit.services.states.current(workspace);
  expect([...policies.keys()].sort()).toEqual(['p2', 'p3']);
});

test('a later change of another record of the revision does not keep a pair from being mended', async () => {
  const { kit, ask } = await withBroken([[isolate, isolateOthers('p2', 'bot')], [isolateOthers('p2', 'nobody')]]);
  await using _ = kit;
  expect((await ask()).findings[0].restore).toMatchObject({ changes: [{ name: 'p1' }] });
});

test('where one record does not mend a pair, the plan says what else of the revision it takes back', async () => {
  const batch: Writes = [isolate, { do: 'label', name: 'web-1', role: 'bot' }, isolateOthers('p2', 'bot')];
  const { kit, workspace, ask, now } = await withBroken([batch]);
  await using _ = kit;
  const { restore } = (await ask()).findings[0];
  expect(restore.changes).toHaveLength(3);
  expect(restore.beyond).toMatch(
    /^Taking back p1 alone does not bring it back, so the plan takes back all of revision \d+: also /,
  );
  expect(restore.beyond).toContain('MeshPolicy p2');
  await carryOut(kit, workspace, restore.plan_id);
  expect((await now()).verdict).toBe('reachable');
});

test.each<[string, RegExp, ...Writes[]]>([
  [
    'approval',
    /^Peers are let in one by one: approve db-1 again\.$/,
    [{ do: 'phase', name: 'db-1', phase: 'revoked' }],
  ],
  ['peer', /^No plan makes a peer: db-1 has to join again\.$/, [{ do: 'remove', name: 'db-1' }]],
  [
    'address',
    /^No plan changes addresses: web-1 keeps the one it has\.$/,
    [{ ...isolate, spec: { action: 'DENY', ...block } }],
    [{ do: 'address', name: 'web-1', last: 9 }],
  ],
  [
    'expiry',
    /^The time of MeshPeer web-1 is not in a plan: renew it, or let it join again\.$/,
    [{ do: 'remove', name: 'web-1' }],
    [{ do: 'join', name: 'web-1', role: 'web', ttl: 2, by: undefined }],
  ],
  [
    'policy',
    /^Later changes touched the same records: p1/,
    [isolate],
    [{ ...isolate, spec: { ...isolate.spec, ingress: [{ from: ['*'] }] } }],
  ],
])('what no plan puts back says why: %s, %s', async (cause, reason, ...batches) => {
  const { kit, ask } = await withBroken(batches);
  await using _ = kit;
  const found = (await ask()).findings.find(
    (one: { after: { verdict: string } }) => one.after.verdict === 'unreachable',
  );
  expect(found).toMatchObject({ causes: [{ cause }], restore: null, no_restore: expect.stringMatching(reason) });
});

test('a plan that would not bring back the connection is not offered, and the reason says what stays closed', async () => {
  const { kit, ask } = await withBroken([[isolate], [isolateOthers('p2', 'db')]]);
  await using _ = kit;
  expect((await ask()).findings[0]).toMatchObject({
    restore: null,
    no_restore: 'Taking it back would not bring the connection back: web-1 cannot reach db-1 on everything.',
  });
});

test('a plan that would not close a connection again is not offered, and the reason says what stays open', async () => {
  const { kit, ask } = await withBroken([
    [isolate],
    [{ ...open, name: 'p1', ttl: undefined }],
    [{ ...open, ttl: undefined }],
  ]);
  await using _ = kit;
  const { findings } = await ask();
  expect(findings.find((one: { after: { verdict: string } }) => one.after.verdict === 'reachable')).toMatchObject({
    restore: null,
    no_restore: 'Taking it back would not close the connection again: web-1 can still reach db-1 on everything.',
  });
});

test('a device that went away is started again by a person', async () => {
  const { kit, ask } = await withBroken([[{ do: 'presence', name: 'db-1', online: false }]]);
  await using _ = kit;
  expect((await ask()).findings[0]).toMatchObject({
    after: { verdict: 'reachable', usable: false },
    causes: [{ cause: 'presence', name: 'db-1' }],
    no_restore: 'No plan brings a device back: start the node on db-1 (mesh up).',
  });
});
