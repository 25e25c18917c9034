import { expect, test } from 'vitest';
import { formatInstant, formatSecond, parseInstant } from '../../core/base/time.ts';
import { buildHistoryKit } from '../../test/kits/plane/history-kit.ts';

const NOON = Date.UTC(2026, 0, 5, 12);
const DAY = 24 * 3_600_000;

/** web may reach db on 5432 from the start; a day later the rule goes. */
async function scene() {
  const kit = await buildHistoryKit({ now: NOON });
  await kit.join('web-1', { role: 'web' });
  const db = await kit.join('db-1', { role: 'db' });
  kit.clock.time += 1_000;
  const ports = [{ protocol: 'TCP', port: 5432 }];
  const rule = { from: [{ peerSelector: { matchLabels: { role: 'web' } } }], ports };
  const spec = { action: 'ALLOW', peerSelector: { matchLabels: { role: 'db' } }, ingress: [rule] };
  await kit.ask('create_policy', { name: 'web-to-db', spec });
  await kit.pass(2_000);
  const [snapshot] = (await kit.ask('list_snapshots', { limit: 1 })).items;
  kit.clock.time = NOON + DAY;
  await kit.ask('update_policy', { id: 'web-to-db', spec: { ...spec, ingress: [] } });
  await kit.pass(2_000);
  return { kit, db, snapshot };
}

const asked = { src: 'web-1', dst: 'db-1', protocol: 'TCP', port: 5432 };

test('yesterday is told from today, with the rule that decided and the change that ended it', async () => {
  const { kit, snapshot } = await scene();
  const then = formatInstant(NOON + 2_000);
  const answer = await kit.ask('check_connectivity_at', { ...asked, at: then });
  expect(answer).toEqual({
    verdict: 'reachable',
    presence: { src: 'offline', dst: 'offline' },
    usable: false,
    at: then,
    snapshot_id: null,
    revision: expect.any(Number),
    valid_from: formatInstant(NOON),
    valid_to: formatInstant(NOON + DAY),
    steps: expect.arrayContaining([
      {
        stage: 'ingress',
        direction: 'ingress',
        result: 'pass',
        reason_code: 'ALLOWED_BY_RULE',
        subject: 'db-1',
        policy: 'web-to-db',
        rule_index: 0,
      },
    ]),
    allowed: [{ protocol: 'TCP', from: 5432, to: 5432 }],
    blocked_by: [],
    would_fix: [],
    now: {
      verdict: 'unreachable',
      changed_by: {
        revision: expect.any(Number),
        at: formatInstant(NOON + DAY),
        actor: 'user:admin',
        reason: expect.any(String),
        workflow_id: null,
        reviewed_by: null,
        resources: ['updated MeshPolicy/web-to-db'],
      },
    },
  });
  expect(answer.steps.map(({ stage }: { stage: string }) => stage)).toEqual([
    ...['known', 'known', 'approved', 'approved', 'not_expired', 'not_expired'],
    ...['same_network', 'egress', 'ingress'],
  ]);
  const bySnapshot = await kit.ask('check_connectivity_at', { ...asked, snapshot_id: snapshot.id });
  const atSnapshot = await kit.ask('check_connectivity_at', { ...asked, at: snapshot.captured_at });
  expect({ ...bySnapshot, snapshot_id: null }).toEqual(atSnapshot);
  expect(bySnapshot).toMatchObject({ verdict: 'reachable', snapshot_id: snapshot.id, valid_to: answer.valid_to });
  await kit[Symbol.asyncDispose]();
});

test('the present holds until something changes, and snapshots change nothing', async () => {
  const { kit } = await scene();
  kit.clock.time += 5_000;
  await kit.ask('take_snapshot');
  expect(await kit.ask('check_connectivity', asked)).toMatchObject({
    verdict: 'unreachable',
    valid_from: formatInstant(NOON + DAY),
    valid_to: null,
    blocked_by: [{ stage: 'ingress', reason_code: 'INGRESS_ISOLATED', policy: 'web-to-db', rule_index: null }],
    now: { verdict: 'unreachable', changed_by: null },
  });
  await kit[Symbol.asyncDispose]();
});

test('the verdict holds since it changed, not since the newest revision', async () => {
  const { kit } = await scene();
  kit.clock.time = NOON + 9 * DAY;
  await kit.join('other-1', { role: 'other' });
  await kit.ask('create_policy', { name: 'elsewhere', spec: { action: 'DENY', peerSelector: { peers: ['other-1'] } } });
  const since = { valid_from: formatInstant(NOON + DAY), valid_to: null };
  expect(await kit.ask('check_connectivity', asked)).toMatchObject(since);
  expect(await kit.ask('check_connectivity_at', { ...asked, at: formatInstant(NOON + 9 * DAY) })).toMatchObject(since);
  expect(await kit.ask('explain_denial', asked)).toMatchObject({ valid_from: since.valid_from });
  await kit[Symbol.asyncDispose]();
});

test('where the begin is no longer kept the answer says since when it holds at least', async () => {
  const { kit, snapshot } = await scene();
  kit.clock.time = NOON + 9 * DAY;
  await kit.join('other-1', { role: 'other' });
  const { store } = kit.services;
  const kept = NOON + 9 * DAY;
  await store.compact(kit.workspace, await store.revision(kit.workspace), [snapshot.revision]);
  kit.clock.time += 1_000;
  expect(await kit.ask('check_connectivity', asked)).toMatchObject({
    valid_from: null,
    at_least_from: formatInstant(kept),
    valid_to: null,
  });
  expect(await kit.ask('explain_denial', asked)).toMatchObject({
    valid_from: null,
    explanation: expect.stringContaining(`It is so at least since ${formatSecond(kept)}.`),
  });
  const bySnapshot = await kit.ask('check_connectivity_at', { ...asked, snapshot_id: snapshot.id });
  expect(bySnapshot).toMatchObject({
    valid_from: null,
    at_least_from: snapshot.captured_at,
    valid_to: null,
    note: `It is so at least until ${formatSecond(parseInstant(snapshot.captured_at))}.`,
  });
  await kit[Symbol.asyncDispose]();
});

test('before history nothing is determined', async () => {
  const { kit } = await scene();
  expect(await kit.ask('check_connectivity_at', { ...asked, at: formatInstant(NOON - 1) })).toMatchObject({
    verdict: 'undetermined',
    presence: { src: 'unknown', dst: 'unknown' },
    revision: null,
    valid_from: null,
    valid_to: null,
    steps: [{ stage: 'known', result: 'fail', reason_code: 'NO_SNAPSHOT' }],
    now: { verdict: 'unreachable', changed_by: null },
  });
  await kit[Symbol.asyncDispose]();
});

test('where history is no longer kept nothing is determined, but a kept snapshot still answers', async () => {
  const { kit, snapshot } = await scene();
  const { store } = kit.services;
  await store.compact(kit.workspace, await store.revision(kit.workspace), [snapshot.revision]);
  expect(await kit.ask('check_connectivity_at', { ...asked, at: formatInstant(NOON) })).toMatchObject({
    verdict: 'undetermined',
    steps: [{ reason_code: 'SNAPSHOT_GAP' }],
  });
  expect(await kit.ask('check_connectivity_at', { ...asked, snapshot_id: snapshot.id })).toMatchObject({
    verdict: 'reachable',
    revision: snapshot.revision,
  });
  await kit[Symbol.asyncDispose]();
});

test('peers are found by id and by name in any case, and one that was never there is an error', async () => {
  const { kit, db } = await scene();
  const at = formatInstant(NOON + 2_000);
  expect(await kit.ask('check_connectivity_at', { ...asked, src: 'WEB-1', dst: db.id, at })).toMatchObject({
    verdict: 'reachable',
  });
  await expect(kit.ask('check_connectivity_at', { ...asked, src: 'nobody', at })).rejects.toMatchObject({
    code: 'not_found',
    message: 'There is no peer "nobody".',
  });
  await kit[Symbol.asyncDispose]();
});

test('a peer of today that was not there yet is a failing stage then', async () => {
  const { kit } = await scene();
  const at = formatInstant(NOON + 2_000);
  await kit.join('late-1', { role: 'web' });
  expect(await kit.ask('check_connectivity_at', { ...asked, src: 'late-1', at })).toMatchObject({
    verdict: 'unreachable',
    presence: { src: 'unknown', dst: 'offline' },
    steps: [{ stage: 'known', result: 'fail', reason_code: 'PEER_NOT_FOUND', subject: 'late-1' }],
  });
  await kit[Symbol.asyncDispose]();
});

test.each([
  ['a time ahead of the clock', { at: '2027-01-01T00:00:00Z' }, 'invalid_input'],
  ['a time that is none', { at: 'the other day' }, 'invalid_input'],
  ['a time and a snapshot', { at: '2026-01-05T12:00:00Z', snapshot_id: 'snap_x' }, 'invalid_input'],
  ['an unknown snapshot', { snapshot_id: 'snap_x' }, 'not_found'],
  ['a port out of range', { port: 65_536 }, 'invalid_input'],
  ['an unknown protocol', { protocol: 'GRE' }, 'invalid_input'],
  ['an unknown field', { when: 'now' }, 'invalid_input'],
  ['a name with spaces that is stored with hyphens', { src: 'web 1' }, 'not_found'],
])('a question with %s is refused', async (_what, change, code) => {
  const { kit } = await scene();
  await expect(kit.ask('check_connectivity_at', { ...asked, ...change })).rejects.toMatchObject({ code });
  await kit[Symbol.asyncDispose]();
});

test('a policy that ended bounds the time in which the answer holds', async () => {
  await using kit = await buildHistoryKit({ now: NOON });
  await kit.join('web-1', { role: 'web' });
  await kit.join('db-1', { role: 'db' });
  const end = NOON + 60_000;
  const spec = { action: 'DENY', peerSelector: {}, expiresAt: formatInstant(end) };
  await kit.ask('create_policy', { name: 'maintenance', spec });
  kit.clock.time = end + 5_000;
  expect(await kit.ask('check_connectivity_at', { ...asked, at: formatInstant(NOON + 1) })).toMatchObject({
    verdict: 'unreachable',
    valid_from: formatInstant(NOON),
    valid_to: formatInstant(end),
    now: { verdict: 'reachable' },
  });
  expect(await kit.ask('check_connectivity_at', { ...asked, at: formatInstant(end) })).toMatchObject({
    verdict: 'reachable',
    valid_from: formatInstant(end),
    valid_to: null,
  });
});
