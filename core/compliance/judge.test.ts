import { describe, expect, test } from 'vitest';
import { buildHistoryKit } from '../../test/kits/plane/history-kit.ts';
import type { NetworkChangeRecord } from './changes.ts';
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
const OWN = { ...REVIEWED, reviewedBy: 'user:ada', workflow: workflowOf({ autoApprove: false, selfApproved: true }) };
const ENDED = { ...DIRECT, actor: 'system:expiry', isAutomatic: true, isDirect: false };
const OF_A_NETWORK = { ...DIRECT, isOfPolicies: false };
const BARE = { ...REVIEWED, actor: '' };
const BUILT_IN = { ...REVIEWED, actor: 'user:admin' };

function workflowOf({ autoApprove, selfApproved }: { autoApprove: boolean; selfApproved?: boolean }) {
  return { spec: { autoApprove, requestedBy: 'user:ada' }, status: selfApproved ? { selfApproved } : {} };
}

type ChangeCheckName = { [N in CheckName]: (typeof CHECKS)[N] extends ChangeCheck ? N : never }[CheckName];
type Row = Readonly<Record<'passes' | 'fails' | 'nothing', readonly NetworkChangeRecord[]>>;

const CHANGES: Readonly<Record<ChangeCheckName, Row>> = {
  'no-auto-approval': { passes: [REVIEWED, OWN], fails: [AUTO], nothing: [DIRECT, ENDED] },
  'policy-changes-reviewed': { passes: [REVIEWED, OWN], fails: [DIRECT, AUTO], nothing: [ENDED, OF_A_NETWORK] },
  'changes-authorised': { passes: [REVIEWED], fails: [DIRECT, AUTO, OWN, OF_A_NETWORK], nothing: [ENDED] },
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
  'second-factor': false,
  'access-review': undefined,
  'policy-review': undefined,
  'activity-review': undefined,
  'verified-log': undefined,
  backups: undefined,
  'idle-sessions': false,
  'lock-out': false,
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

test('facts become others with what they are about', async () => {
  await using kit = await buildHistoryKit();
  const { services, workspace } = kit;
  const settings = { ...services.settings, apiUrl: 'https://mesh.example', signalingUrl: 'nats://203.0.113.7:4222' };
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
