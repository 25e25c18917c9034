import { describe, expect, test } from 'vitest';
import { buildReviewKit, itemNamed } from '../../../test/kits/plane/review-kit.ts';
import { FACTS } from '../facts.ts';

const DAY_MS = 86_400_000;
const FACT_OF = { access: 'access-review', policies: 'policy-review', activity: 'activity-review' } as const;

/** The kit with something of each kind to review, and what a fact says at an instant. */
async function buildFactKit() {
  const kit = await buildReviewKit();
  await kit.member('olga', 'operator');
  await kit.ask('create_policy', { name: 'base', spec: { action: 'DENY', peerSelector: {} } });
  const fact = (kind: keyof typeof FACT_OF, at = kit.clock.time) =>
    FACTS[FACT_OF[kind]]({ services: kit.services, workspace: kit.workspace, at });
  return { ...kit, fact };
}

describe.each([
  ['access', 184],
  ['policies', 184],
  ['activity', 92],
] as const)('the review of %s', (kind, days) => {
  test('lacks evidence before one is finished, holds for its cadence, and fails after it', async () => {
    await using kit = await buildFactKit();
    const before = await kit.fact(kind);
    expect(before).toMatchObject({ holds: undefined, isOfPeriod: true });
    expect(before.remedy).toContain(`mesh compliance review start ${kind}`);
    const started = kit.clock.time;
    kit.clock.time += DAY_MS;
    const id = await kit.reviewed(kind);
    const fact = await kit.fact(kind);
    expect(fact).toMatchObject({ holds: true, remedy: '' });
    expect(fact.evidence).toContain(id);
    expect(fact.evidence).toContain('user:admin');
    // It says nothing of a period that ended before it was finished.
    expect((await kit.fact(kind, started)).holds).toBe(undefined);
    kit.clock.time += days * DAY_MS;
    expect((await kit.fact(kind)).holds).toBe(true);
    kit.clock.time += 1;
    const late = await kit.fact(kind);
    expect(late.holds).toBe(false);
    expect(late.evidence).toContain('The next was due at');
    // The end of an earlier period is judged by what there was then.
    expect((await kit.fact(kind, started + 2 * DAY_MS)).holds).toBe(true);
  });

  test('a review that is open is none', async () => {
    await using kit = await buildFactKit();
    await kit.ask('start_review', { kind });
    expect((await kit.fact(kind)).holds).toBe(undefined);
  });
});

test.each([
  ['access', 'olga', 'remove_member', { username: 'olga' }],
  ['policies', 'base', 'delete_policy', { id: 'base' }],
] as const)('what a review of %s flagged fails it until that has ended', async (kind, name, operation, input) => {
  await using kit = await buildFactKit();
  const { id } = await kit.ask('start_review', { kind });
  const item = itemNamed(await kit.ask('get_review', { id }), name).id;
  await kit.ask('decide_review_items', { id, items: [{ item, verdict: 'flagged', note: 'not needed' }] });
  await kit.ask('decide_review_items', { id, confirm_rest: true });
  await kit.ask('finish_review', { id });
  const flagged = await kit.fact(kind);
  expect(flagged.holds).toBe(false);
  expect(flagged.evidence).toContain(name);
  await kit.ask(operation, input);
  expect((await kit.fact(kind)).holds).toBe(true);
});

test.each(['access', 'policies', 'activity'] as const)(
  'a review of %s that was open for long is as old as its list',
  async (kind) => {
    await using kit = await buildFactKit();
    const { id } = await kit.ask('start_review', { kind });
    kit.clock.time += 185 * DAY_MS;
    await kit.ask('decide_review_items', { id, confirm_rest: true });
    await kit.ask('finish_review', { id });
    expect(await kit.fact(kind)).toMatchObject({
      holds: false,
      evidence: expect.stringContaining('The next was due at'),
    });
  },
);

test('a review of a few entries fails while older ones are left, and none leaves out what is before it', async () => {
  await using kit = await buildFactKit();
  const size = await kit.services.store.auditTree(kit.workspace).size();
  kit.clock.time += 100 * DAY_MS;
  const reviewed = async (range: object) => {
    const { id } = await kit.ask('start_review', { kind: 'activity', ...range });
    await kit.ask('decide_review_items', { id, confirm_rest: true });
    await kit.ask('finish_review', { id });
  };
  await expect(reviewed({ from_seq: size - 1 })).rejects.toThrow(`The entries 0 to ${size - 2} were not reviewed yet`);
  await reviewed({ to_seq: 0 });
  expect(await kit.fact('activity')).toMatchObject({
    holds: false,
    evidence: expect.stringMatching(/From entry 1 on, of .*, the log was not reviewed\./),
  });
  await reviewed({});
  expect((await kit.fact('activity')).holds).toBe(true);
  // Looked at again, which takes nothing back.
  await reviewed({ from_seq: 0, to_seq: 0 });
  expect((await kit.fact('activity')).holds).toBe(true);
});

test('what was found in the log does not fail the review of it', async () => {
  await using kit = await buildFactKit();
  const { id } = await kit.ask('start_review', { kind: 'activity' });
  const items = (await kit.ask('get_review', { id })).items.map((one: { id: string }) => ({
    item: one.id,
    verdict: 'flagged',
    note: 'seen',
  }));
  await kit.ask('decide_review_items', { id, items });
  await kit.ask('finish_review', { id });
  expect((await kit.fact('activity')).holds).toBe(true);
});

test('the cadence of activity is that of the workspace', async () => {
  await using kit = await buildFactKit();
  await kit.ask('update_workspace', { settings: { reviews: { activity: 7 } } });
  await kit.reviewed('activity');
  kit.clock.time += 8 * DAY_MS;
  expect((await kit.fact('activity')).holds).toBe(false);
});

test('tokens hold with an end, fail without one, and say nothing where there are none in use', async () => {
  await using kit = await buildFactKit();
  const { services, workspace } = kit;
  const ages = () => FACTS['token-ages']({ services, workspace, at: kit.clock.time });
  expect((await ages()).holds).toBe(undefined);
  const { id } = await kit.ask('generate_join_token', { name: 'ci' });
  expect((await ages()).holds).toBe(true);
  const token = await services.store.getById(workspace, 'Token', id);
  const { expiresAt: _, ...endless } = token?.spec ?? {};
  const { workspace: _w, createdAt: _c, generation: _g, revision = 0, ...draft } = { ...token };
  const record = { ...draft, spec: endless } as never;
  await services.store.commit(workspace, [{ op: 'update', record, revision }], {
    actor: 'user:test',
    reason: 'test',
    requestId: 'r',
  });
  expect(await ages()).toMatchObject({ holds: false, evidence: expect.stringContaining(id) });
});

test('an assessment names the review that it rests on', async () => {
  await using kit = await buildFactKit();
  const id = await kit.reviewed('access');
  const assessed = await kit.ask('assess_compliance', { framework: 'pci-dss', period_start: '2026-01-05T00:00:00Z' });
  const control = assessed.controls.find((one: { id: string }) => one.id === 'PCI-DSS-7.2.4');
  expect(control).toMatchObject({ status: 'pass', evidence: expect.stringContaining(id) });
});
