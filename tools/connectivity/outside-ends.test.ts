import { expect, test } from 'vitest';
import { formatInstant } from '../../core/base/time.ts';
import { buildHistoryKit } from '../../test/kits/plane/history-kit.ts';
import { seedPeers } from '../../test/kits/records/seed-peers.ts';

const OFFICE = '203.0.113.0/24';
const BY_BLOCK = {
  action: 'ALLOW',
  peerSelector: { matchLabels: { role: 'db' } },
  ingress: [{ from: [{ ipBlock: { cidr: OFFICE, except: ['203.0.113.128/25'] } }], ports: [{ port: 5432 }] }],
};
const POSTGRES = [{ protocol: 'TCP', from: 5432, to: 5432 }];

async function scene() {
  const kit = await buildHistoryKit();
  await seedPeers(kit.services, kit.workspace, { 'web-1': { role: 'web' }, 'db-1': { role: 'db' } });
  kit.clock.time += 1_000;
  const before = formatInstant(kit.clock.time);
  kit.clock.time += 1_000;
  await kit.ask('create_policy', { name: 'office', spec: BY_BLOCK });
  return { ...kit, before, [Symbol.asyncDispose]: () => kit[Symbol.asyncDispose]() };
}

test.each([
  ['203.0.113.7', 'partial', POSTGRES],
  ['203.0.113.0/25', 'partial', POSTGRES],
  [OFFICE, 'partial', []],
  ['203.0.113.200', 'unreachable', []],
  ['outside', 'partial', []],
  ['Internet', 'partial', []],
  ['8.8.8.8', 'unreachable', []],
  ['2001:db8::/32', 'unreachable', []],
])('%s is asked about as the source of a connection', async (src, verdict, allowed) => {
  await using kit = await scene();
  const answer = await kit.ask('check_connectivity', { src, dst: 'db-1' });
  expect(answer).toMatchObject({
    ...{ verdict, allowed, usable: false, presence: { src: 'unknown' }, would_fix: [] },
    note: expect.stringContaining('proposes nothing for addresses outside'),
  });
});

test('a port, and the part that may use least, are answered for a range that policies tell apart', async () => {
  await using kit = await scene();
  const ask = (src: string) => kit.ask('check_connectivity', { src, dst: 'db-1', protocol: 'TCP', port: 5432 });
  expect(await ask('203.0.113.0/25')).toMatchObject({ verdict: 'reachable', allowed: POSTGRES });
  const { verdict, steps, blocked_by } = await ask(OFFICE);
  expect(verdict).toBe('partial');
  expect(steps).toContainEqual(expect.objectContaining({ stage: 'known', subject: '203.0.113.128/25' }));
  expect(blocked_by).toMatchObject([{ reason_code: 'INGRESS_ISOLATED', policy: 'office' }]);
});

test('addresses outside are a target too, and asked about in the past', async () => {
  await using kit = await scene();
  expect(await kit.ask('check_connectivity', { src: 'db-1', dst: '8.8.8.8' })).toMatchObject({ verdict: 'reachable' });
  const pair = { src: 'outside', dst: 'db-1' };
  expect(await kit.ask('check_connectivity_at', { ...pair, at: kit.before })).toMatchObject({
    verdict: 'reachable',
    allowed: 'ALL',
    now: { verdict: 'partial', changed_by: { reason: expect.any(String) } },
  });
});

test('with labels or nothing at the other end the answer is by groups', async () => {
  await using kit = await scene();
  expect(await kit.ask('check_connectivity', { src: OFFICE, dst: 'role=db' })).toMatchObject({
    ...{ verdict: 'partial', asked_pairs: 2, open_pairs: 1 },
    groups: [{ src: ['203.0.113.0/25'], dst: ['db-1'], allowed: POSTGRES }],
  });
  expect(await kit.ask('check_connectivity', { src: '8.8.8.8' })).toMatchObject({
    ...{ verdict: 'partial', asked_pairs: 2, open_pairs: 1 },
    groups: [{ src: ['8.8.8.8/32'], dst: ['web-1'], allowed: 'ALL' }],
  });
});

test('a denial from outside is explained', async () => {
  await using kit = await scene();
  const { denied, explanation } = await kit.ask('explain_denial', { src: '8.8.8.8', dst: 'db-1' });
  expect(denied).toBe(true);
  expect(explanation).toContain(
    '8.8.8.8 may not reach db-1. No policy allows 8.8.8.8 → db-1. db-1 is closed but for what policies open: office to 203.0.113.0/25.',
  );
});

test.each([
  [{ src: 'outside', dst: '8.8.8.8' }, 'invalid_input', 'One end has to be a peer'],
  [{ src: 'outside', dst: '0.0.0.0/1' }, 'not_found', 'is a range'],
  [{ src: '10.96.0.77', dst: 'db-1' }, 'not_found', 'No peer has the address'],
])('%j is refused', async (pair, code, text) => {
  await using kit = await scene();
  await expect(kit.ask('check_connectivity', pair)).rejects.toMatchObject({
    code,
    message: expect.stringContaining(text),
  });
});

test.each([OFFICE, '203.0.113.7', '203.0.113.200', 'outside', '8.8.8.8'])(
  'the history of %s to a peer says at each moment what a check at it says, and begins anew with each change',
  async (src) => {
    await using kit = await scene();
    kit.clock.time += 60_000;
    await kit.ask('create_policy', {
      name: 'soon-over',
      spec: { ...BY_BLOCK, expiresAt: formatInstant(kit.clock.time + 60_000) },
    });
    await kit.ask('delete_policy', { id: 'office' });
    kit.clock.time += 120_000;
    await kit.ask('update_peer', { id: 'db-1', labels: { role: 'web' } });
    kit.clock.time += 1_000;
    const asked = { src, dst: 'db-1' };
    const { intervals, ...rest } = await kit.ask('get_connectivity_history', { ...asked, from: kit.before });
    expect([rest.src, rest.dst, intervals[0].from]).toEqual([src, 'db-1', kit.before]);
    for (const { from, verdict, allowed, usable } of intervals) {
      const then = await kit.ask('check_connectivity_at', { ...asked, at: from });
      expect({ from, verdict, allowed, usable }).toEqual({
        from,
        verdict: then.verdict,
        allowed: then.allowed,
        usable: false,
      });
    }
    const found = await kit.ask('find_cause', { ...asked, from: kit.before });
    expect(found.was.end.verdict).toBe(intervals.at(-1).verdict);
    expect(found.findings.map(({ at }: { at: string }) => at).sort()).toEqual(
      intervals.slice(1).map(({ from }: { from: string }) => from),
    );
  },
);

test('a history of which both ends are outside, or one is a label, is refused with what to do', async () => {
  await using kit = await scene();
  const ask = (src: string, dst: string) => kit.ask('get_connectivity_history', { src, dst, from: kit.before });
  await expect(ask('outside', '8.8.8.8')).rejects.toMatchObject({
    message: expect.stringMatching(/One end has to be a peer/),
  });
  await expect(ask('role=web', 'db-1')).rejects.toMatchObject({ message: expect.stringMatching(/find_cause/) });
});
