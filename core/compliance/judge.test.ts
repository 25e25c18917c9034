import { describe, expect, test } from 'vitest';
import { buildHistoryKit } from '../../test/kits/plane/history-kit.ts';
import { makeCheckpoint } from '../audit/keep-checkpoints.ts';
import type { ApprovedBy, NetworkChangeRecord } from './changes.ts';
import type { ChangeCheck } from './checks/check.ts';
import { CHECKS, type CheckName } from './checks/index.ts';
import { FACTS, type FactName } from './facts.ts';
import { judgeChanges, judgeDays } from './judge.ts';

/** The checks of changes, of days and of facts, each with what passes, what fails, and what there is nothing of. */

const REVIEWED: NetworkChangeRecord = {
  revision: 7,
  at: Date.UTC(2026, 0, 5),
  actor: 'user:ada',
  reason: 'lets web in',
  requestId: 'r_1',
  resources: ['created MeshPolicy/web'],
  isOfPolicies: true,
  isAutomatic: false,
  isDirect: false,
  reviewedBy: 'user:eva',
  workflowId: 'wf_1',
  workflow: workflowOf({ autoApprove: false }),
};
const DIRECT = { ...REVIEWED, isDirect: true, reviewedBy: '', workflowId: undefined, workflow: undefined };
const AUTO = { ...REVIEWED, reviewedBy: '', workflow: workflowOf({ autoApprove: true }) };
const OWN = {
  ...REVIEWED,
  reviewedBy: 'user:ada',
  workflow: workflowOf({ autoApprove: false, selfApproved: true, reviewedBy: 'user:ada' }),
};
/** Workflows that show no approval of the change. */
const UNSHOWN: readonly NetworkChangeRecord[] = [
  { ...REVIEWED, workflow: undefined },
  { ...REVIEWED, workflow: { ...workflowOf({ autoApprove: false }), status: { state: 'executed' } } },
  { ...REVIEWED, workflow: workflowOf({ autoApprove: false, reviewedBy: 'user:bob' }) },
  { ...REVIEWED, workflow: workflowOf({ autoApprove: false, state: 'rejected' }) },
  { ...REVIEWED, workflow: workflowOf({ autoApprove: false, reviewedAt: '2026-01-05T00:00:01Z' }) },
  { ...REVIEWED, workflow: workflowOf({ autoApprove: true }) },
  { ...REVIEWED, resources: ['created MeshPolicy/web', 'deleted MeshPolicy/base'] },
];
const ENDED = { ...DIRECT, actor: 'system:expiry', isAutomatic: true, isDirect: false };
const OF_A_NETWORK = { ...DIRECT, isOfPolicies: false };
const BARE = { ...REVIEWED, actor: '' };
const BUILT_IN = { ...REVIEWED, actor: 'user:admin' };

function workflowOf({ autoApprove, ...status }: { autoApprove: boolean } & Partial<ApprovedBy['status']>): ApprovedBy {
  const shown = [{ action: 'create' as const, resource: 'MeshPolicy', name: 'web', before: '', after: '' }];
  return {
    spec: { autoApprove, requestedBy: 'user:ada', appliedBy: 'user:ada', shown },
    status: { state: 'executed', reviewedBy: 'user:eva', reviewedAt: '2026-01-04T23:00:00Z', ...status },
  };
}

type ChangeCheckName = { [N in CheckName]: (typeof CHECKS)[N] extends ChangeCheck ? N : never }[CheckName];
type Row = Readonly<Record<'passes' | 'fails' | 'nothing', readonly NetworkChangeRecord[]>>;

const CHANGES: Readonly<Record<ChangeCheckName, Row>> = {
  'no-auto-approval': { passes: [REVIEWED, OWN], fails: [AUTO, ...UNSHOWN], nothing: [DIRECT, ENDED] },
  'policy-changes-reviewed': {
    passes: [REVIEWED, OWN],
    fails: [DIRECT, AUTO, ...UNSHOWN],
    nothing: [ENDED, OF_A_NETWORK],
  },
  'changes-authorised': { passes: [REVIEWED], fails: [DIRECT, AUTO, OWN, OF_A_NETWORK, ...UNSHOWN], nothing: [ENDED] },
  'separate-approver': { passes: [REVIEWED], fails: [OWN], nothing: [DIRECT, AUTO, ENDED] },
  'complete-records': { passes: [REVIEWED, DIRECT, ENDED], fails: [BARE], nothing: [] },
  'named-people': { passes: [REVIEWED, DIRECT], fails: [BUILT_IN], nothing: [ENDED] },
};

test('every check of changes is held to the table', () => {
  const names = Object.entries(CHECKS).flatMap(([name, check]) => (check.on === 'changes' ? [name] : []));
  expect(Object.keys(CHANGES).sort()).toEqual(names.sort());
});

describe.each(Object.entries(CHANGES))('%s', (name, { passes, fails, nothing }) => {
  const check: ChangeCheck = CHECKS[name as ChangeCheckName];

  test('says of each change whether it passes, and that there are none to judge', () => {
    const holds = (change: NetworkChangeRecord) => judgeChanges(check, [change]).holds;
    expect(passes.map(holds)).toEqual(passes.map(() => true));
    expect(fails.map(holds)).toEqual(fails.map(() => false));
    expect([...nothing.map(holds), judgeChanges(check, []).holds]).toEqual([
      ...nothing.map(() => undefined),
      undefined,
    ]);
  });

  test('counts what passes among all, and names the revisions that do not', () => {
    const judged = judgeChanges(check, [...passes, ...fails, ...nothing]);
    expect(judged.share).toBe(passes.length / (passes.length + fails.length));
    expect(judged.failing.map(({ begun_by: by }) => by?.revision)).toEqual(fails.map(({ revision }) => revision));
    expect(judged.evidence).toContain(`${passes.length} of ${passes.length + fails.length}`);
    expect(judgeChanges(check, []).evidence).toMatch(/^0 [a-z ]+s in the period\.$/);
  });
});

test('a missing day fails, no day is nothing, and every day passes', () => {
  const check = CHECKS['daily-snapshots'];
  const [monday, tuesday] = [Date.UTC(2026, 0, 5, 2), Date.UTC(2026, 0, 6, 2)];
  expect(judgeDays(check, { due: [monday, tuesday], missing: [] })).toMatchObject({ holds: true, share: 1 });
  expect(judgeDays(check, { due: [], missing: [] })).toMatchObject({ holds: undefined, share: undefined });
  const failed = judgeDays(check, { due: [monday, tuesday], missing: [tuesday] });
  expect(failed).toMatchObject({ holds: false, share: 0.5 });
  expect(failed.evidence).toContain('2026-01-06T02:00:00.000Z');
});

/** What each fact says of a plane in which nothing was done yet but its first account. */
const AT_FIRST: Readonly<Record<FactName, boolean | undefined>> = {
  'first-password': undefined,
  'bus-exposure': true,
  'admin-tls': false,
  'two-person-approval': false,
  'installation-keys': undefined,
  'access-ended': undefined,
  'second-factor': undefined,
  'access-review': undefined,
  'policy-review': undefined,
  'activity-review': undefined,
  'verified-log': undefined,
  backups: undefined,
  'idle-sessions': false,
  'lock-out': true,
  'password-length': false,
  'password-age': false,
  'token-ages': undefined,
  'log-kept': true,
  'report-retention': false,
  capacity: undefined,
};

test('each fact is told from what there is, and says what to do unless it holds', async () => {
  await using kit = await buildHistoryKit();
  const context = { services: kit.services, workspace: kit.workspace, at: kit.clock.time };
  await kit.ask('create_policy', { name: 'base', spec: { action: 'DENY', peerSelector: {} } });
  for (const [name, holds] of Object.entries(AT_FIRST)) {
    const fact = await FACTS[name as FactName](context);
    expect([name, fact.holds, fact.remedy === '']).toEqual([name, holds, holds === true]);
    expect(fact.evidence).toMatch(/^[\P{Cc}]{10,300}$/u);
  }
});

test.each([
  ['127.0.0.1', 'none', false, true],
  ['0.0.0.0', 'token', true, true],
  ['0.0.0.0', 'none', true, false],
  ['0.0.0.0', 'token', false, false],
  ['203.0.113.7', 'none', false, false],
  ['10.0.0.7', 'none', false, undefined],
] as const)('a bus on %s with auth %s and TLS %o: %o', async (host, auth, tls, holds) => {
  await using kit = await buildHistoryKit();
  const listens = { api: { host, tls }, bus: { host, auth, tls } };
  const settings = { ...kit.services.settings, apiUrl: 'https://mesh.example', listens };
  const context = { services: { ...kit.services, settings }, workspace: kit.workspace, at: kit.clock.time };
  expect((await FACTS['bus-exposure'](context)).holds).toBe(holds);
  expect((await FACTS['admin-tls'](context)).holds).toBe(tls || host === '127.0.0.1' ? true : undefined);
});

test.each([
  ['none', true, undefined],
  ['token', false, false],
  ['token', true, true],
] as const)('a bus that others run, with auth %s and TLS %o: %o', async (auth, tls, holds) => {
  await using kit = await buildHistoryKit();
  const bus = { host: 'n1.example.net:4222', auth, tls, isElsewhere: true };
  const settings = { ...kit.services.settings, listens: { ...kit.services.settings.listens, bus } };
  const context = { services: { ...kit.services, settings }, workspace: kit.workspace, at: kit.clock.time };
  const fact = await FACTS['bus-exposure'](context);
  expect([fact.holds, fact.evidence]).toEqual([
    holds,
    expect.stringContaining('n1.example.net:4222, which others run'),
  ]);
});

test('facts become others with what they are about', async () => {
  await using kit = await buildHistoryKit();
  const { services, workspace } = kit;
  const settings = {
    ...services.settings,
    apiUrl: 'https://mesh.example',
    listens: { api: { host: '127.0.0.1', tls: false }, bus: undefined },
  };
  const elsewhere = { services: { ...services, settings }, workspace, at: kit.clock.time };
  expect((await FACTS['admin-tls'](elsewhere)).holds).toBe(true);
  expect((await FACTS['bus-exposure'](elsewhere)).holds).toBe(undefined);
  const account = {
    ...{ kind: 'Account', name: 'admin', uid: 'u_admin', labels: {}, annotations: {}, status: {}, unique: [] },
    spec: { displayName: 'admin', role: 'platform_admin', passwordState: 'built-in', disabled: false, epoch: 1 },
  };
  const record = { ...account, spec: { ...account.spec, passwordHash: '' } } as never;
  const why = { actor: 'user:test', reason: 'test', requestId: 'r' };
  await services.store.commit('w_system', [{ op: 'create', record }], why);
  expect((await FACTS['first-password'](elsewhere)).holds).toBe(false);
  await kit.join('web-1');
  expect((await FACTS.capacity(elsewhere)).holds).toBe(true);
  expect((await FACTS['token-ages'](elsewhere)).holds).toBe(true);
  kit.clock.time += 400 * 86_400_000;
  expect((await FACTS['token-ages'](elsewhere)).holds).toBe(undefined);
});

test('the audit log is verified from its entries, and what was changed in it is named', async () => {
  await using kit = await buildHistoryKit();
  const { services, workspace } = kit;
  const context = { services, workspace, at: kit.clock.time };
  await kit.ask('create_policy', { name: 'base', spec: { action: 'DENY', peerSelector: {} } });
  const { size } = await makeCheckpoint(services, workspace);
  const verified = await FACTS['verified-log'](context);
  expect([verified.holds, verified.remedy]).toEqual([true, '']);
  expect(verified.evidence).toMatch(new RegExp(`^Entries 0 to ${size - 1} give the root .{44}, as signed on 2026`));
  expect(verified.evidence).toContain(`of the period are 0 to ${size - 1}`);
  const { auditTree } = services.store;
  const changed = (name: string) => ({
    ...auditTree(name),
    entries: async (from: number, limit: number) =>
      (await auditTree(name).entries(from, limit)).map((entry) => entry.replace('base', 'bose')),
  });
  const store = { ...services.store, auditTree: changed };
  const fact = await FACTS['verified-log']({ ...context, services: { ...services, store } });
  expect([fact.holds, fact.evidence]).toEqual([false, expect.stringMatching(/checkpoint of 2026.* has another root/)]);
});

test('a log that lacks what was signed of it last fails, although the checkpoints that are left in the database agree', async () => {
  await using kit = await buildHistoryKit();
  const { services, workspace } = kit;
  const context = { services, workspace, at: kit.clock.time };
  const { store } = services;
  const write = (name: string) => kit.ask('create_policy', { name, spec: { action: 'DENY', peerSelector: {} } });
  await write('base');
  const first = await makeCheckpoint(services, workspace);
  await write('more');
  const { size } = await makeCheckpoint(services, workspace);
  const then = { size: async () => first.size, checkpoints: async () => [first] };
  const auditTree = (name: string) => ({ ...store.auditTree(name), ...then });
  const judged = (logs = services.logs) =>
    FACTS['verified-log']({ ...context, services: { ...services, logs, store: { ...store, auditTree } } });
  expect(await judged()).toMatchObject({
    holds: false,
    evidence: expect.stringContaining(`has ${size} entries, the log ${first.size}: its end is missing`),
  });
  const newest = () => Promise.reject(new Error('permission denied'));
  expect(await judged({ ...services.logs, heads: { newest } })).toMatchObject({
    holds: false,
    evidence: expect.stringContaining('could not be held against it: permission denied'),
  });
});
