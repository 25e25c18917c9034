import { expect, test } from 'vitest';
import { buildJobs } from '../../plane/periodic.ts';
import { buildKit, person } from '../../test/kits/plane/kit.ts';
import { seedPeers } from '../../test/kits/records/seed-peers.ts';

const DAY_MS = 86_400_000;
/** A Wednesday. */
const NOON = Date.UTC(2026, 0, 14, 12);
const CARD = { 'compliance.scope': 'cde' };
const OPEN = { action: 'ALLOW', peerSelector: { matchLabels: CARD }, ingress: [{ from: ['*'] }] };

async function scene({ edition = 'pro' }: { readonly edition?: 'pro' | 'community' } = {}) {
  const kit = await buildKit({ now: NOON, edition });
  const workspace = await kit.workspace('prod');
  await seedPeers(kit.services, workspace, { 'card-1': CARD });
  const as = person('admin', workspace, 'ada');
  // biome-ignore lint/suspicious/noExplicitAny: each test knows the answer of the operation it names.
  const ask = (name: string, raw: Record<string, unknown> = {}): Promise<any> => kit.call(name, raw, { as, workspace });
  await ask('create_policy', { name: 'base', spec: { action: 'DENY', peerSelector: {} } });
  /** As a control plane that has just started does it. */
  const run = () =>
    buildJobs(kit.services, { flushRefusals: async () => undefined, flushSessions: async () => undefined })
      .find(({ name }) => name === 'make scheduled assessments')
      ?.run();
  const kept = async () =>
    (await kit.services.store.list(workspace, 'Assessment')).items.map(({ spec }) => [
      spec.framework,
      new Date(spec.from).toISOString().slice(0, 10),
      new Date(spec.to).toISOString().slice(0, 10),
    ]);
  kit.clock.time += 2 * DAY_MS;
  return { ...kit, prod: workspace, ask, run, kept };
}

test('a schedule assesses each period once, over restarts too, as the control plane', async () => {
  await using kit = await scene();
  const set = await kit.ask('set_assessment_schedule', { framework: 'PCI', cadence: 'daily' });
  expect(set).toEqual({
    framework: 'pci-dss',
    cadence: 'daily',
    days: null,
    enabled: true,
    next_at: '2026-01-17T03:00:00.000Z',
  });
  for (let start = 0; start < 3; start += 1) expect(await kit.run()).toBe(Date.UTC(2026, 0, 17, 3));
  expect(await kit.kept()).toEqual([['pci-dss', '2026-01-15', '2026-01-16']]);
  kit.clock.time = Date.UTC(2026, 0, 17, 3);
  await Promise.all([kit.run(), kit.run()]);
  expect(await kit.kept()).toEqual([
    ['pci-dss', '2026-01-16', '2026-01-17'],
    ['pci-dss', '2026-01-15', '2026-01-16'],
  ]);
  const { items } = await kit.ask('list_assessments');
  expect(items[0]).toMatchObject({ generated_by: 'system:compliance' });
});

test('after a time in which nobody was up, the newest period is assessed and not each that was missed', async () => {
  await using kit = await scene();
  await kit.ask('set_assessment_schedule', { framework: 'pci-dss', cadence: 'daily' });
  await kit.run();
  kit.clock.time += 10 * DAY_MS;
  await kit.run();
  expect(await kit.kept()).toEqual([
    ['pci-dss', '2026-01-25', '2026-01-26'],
    ['pci-dss', '2026-01-15', '2026-01-16'],
  ]);
});

test('nothing is assessed that is off, that was deleted, or of which no time is due since the workspace is there', async () => {
  await using kit = await scene();
  await kit.ask('set_assessment_schedule', { framework: 'pci-dss', cadence: 'daily', enabled: false });
  await kit.ask('set_assessment_schedule', { framework: 'soc2', cadence: 'daily' });
  await kit.ask('delete_assessment_schedule', { framework: 'soc2' });
  await kit.ask('set_assessment_schedule', { framework: 'hipaa', cadence: 'quarterly' });
  expect(await kit.run()).toBe(Date.UTC(2026, 3, 1, 3));
  expect(await kit.kept()).toEqual([]);
});

test('the community edition assesses nothing by itself', async () => {
  await using kit = await scene({ edition: 'community' });
  const schedules = { 'pci-dss': { cadence: 'daily', enabled: true } };
  await kit.ask('update_workspace', { settings: { compliance: { schedules } } });
  expect(await kit.run()).toBeUndefined();
  expect(await kit.kept()).toEqual([]);
});

test('a control that another assessment finds otherwise is drift: in the list, in the audit log, with the change that began it', async () => {
  await using kit = await scene();
  await kit.ask('set_assessment_schedule', { framework: 'pci-dss', cadence: 'daily' });
  await kit.run();
  expect(await kit.ask('list_compliance_drift')).toEqual({ items: [] });
  await kit.ask('create_policy', { name: 'open', spec: OPEN });
  const revision = (await kit.services.store.commits(kit.prod, 0, 500)).at(-1)?.revision;
  kit.clock.time += DAY_MS;
  await kit.run();

  const { items } = await kit.ask('list_compliance_drift');
  const [later, earlier] = (await kit.ask('list_assessments')).items;
  expect(items).toHaveLength(1);
  expect(items[0]).toMatchObject({
    framework: 'pci-dss',
    evidence_id: later.evidence_id,
    previous_evidence_id: earlier.evidence_id,
  });
  expect(items[0].controls).toContainEqual({
    control: 'PCI-DSS-1.3',
    from: 'pass',
    to: 'fail',
    cause: { at: expect.any(String), revision, actor: 'user:ada' },
  });
  const events = (await kit.services.store.audit(kit.prod, { type: 'event', limit: 100 })).map(({ event }) => event);
  expect(events).toContainEqual(
    expect.objectContaining({
      type: 'compliance.drift',
      actor: 'system:compliance',
      detail: expect.objectContaining({
        framework: 'pci-dss',
        control: 'PCI-DSS-1.3',
        from: 'pass',
        to: 'fail',
        evidence_id: later.evidence_id,
      }),
    }),
  );

  const { points } = await kit.ask('get_compliance_trend', { framework: 'pci-dss' });
  expect(points.map(({ evidence_id: id }: { evidence_id: string }) => id)).toEqual([
    earlier.evidence_id,
    later.evidence_id,
  ]);
  expect(points[1].counts.fail).toBeGreaterThan(points[0].counts.fail);
});

test('an assessment of an earlier time than one that is kept finds no drift', async () => {
  await using kit = await scene();
  await kit.ask('create_policy', { name: 'open', spec: OPEN });
  kit.clock.time += 5 * DAY_MS;
  const at = (days: number) => new Date(NOON + days * DAY_MS).toISOString();
  const assess = (from: number, to: number) =>
    kit.ask('assess_compliance', { framework: 'pci-dss', period_start: at(from), period_end: at(to) });
  await assess(3, 5);
  await assess(0.5, 1);
  expect(await kit.ask('list_compliance_drift')).toEqual({ items: [] });
});

test('drift is kept as long as the assessments that it is of', async () => {
  await using kit = await scene();
  await kit.ask('set_assessment_schedule', { framework: 'pci-dss', cadence: 'daily' });
  await kit.run();
  await kit.ask('create_policy', { name: 'open', spec: OPEN });
  kit.clock.time += DAY_MS;
  await kit.run();
  kit.clock.time += 4 * 366 * DAY_MS;
  await buildJobs(kit.services, { flushRefusals: async () => undefined, flushSessions: async () => undefined })
    .find(({ name }) => name === 'remove old assessments')
    ?.run();
  expect(await kit.kept()).toEqual([]);
  expect(await kit.ask('list_compliance_drift')).toEqual({ items: [] });
});
