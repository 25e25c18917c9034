import { expect, test } from 'vitest';
import { formatInstant } from '../../core/base/time.ts';
import { removeOldAssessments } from '../../core/compliance/assessments.ts';
import { buildWorkspaceKit, refusalOf } from '../../test/kits/plane/workspace-kit.ts';
import { verifies } from '../../test/verifies.ts';

const DAY_MS = 86_400_000;

async function assessedKit() {
  const kit = await buildWorkspaceKit();
  const assess = (framework: string) => {
    const period_start = formatInstant(kit.clock.time - 1);
    return kit.as('auditor')('assess_compliance', { framework, period_start });
  };
  return { ...kit, assess };
}

test('assessments are listed newest first, of one framework where it is named, in pages', async () => {
  await using kit = await assessedKit();
  const ids: string[] = [];
  for (const framework of ['PCI', 'soc2', 'pci-dss']) {
    kit.clock.time += DAY_MS;
    ids.unshift((await kit.assess(framework)).evidence_id);
  }
  const list = kit.as('auditor');
  const all = await list('list_assessments');
  expect(all.items.map(({ evidence_id: id }: { evidence_id: string }) => id)).toEqual(ids);
  const first = await list('list_assessments', { framework: 'pci_dss', limit: 1 });
  const next = await list('list_assessments', { framework: 'pci_dss', limit: 1, cursor: first.next_cursor });
  expect([first.items[0].evidence_id, next.items[0].evidence_id]).toEqual([ids[0], ids[2]]);
  expect(await refusalOf(list('list_assessments', { framework: 'iso' }))).toBe('invalid_input /framework');
});

test('an assessment is removed with its pages once it is three years old, and not before', async () => {
  verifies('report-history');
  await using kit = await assessedKit();
  const { evidence_id: id } = await kit.assess('pci-dss');
  kit.clock.time += 3 * 365 * DAY_MS;
  expect(await removeOldAssessments(kit.services, kit.workspace)).toBe(0);
  expect((await kit.ask('get_assessment', { id })).evidence_id).toBe(id);
  kit.clock.time += 2 * DAY_MS;
  expect(await removeOldAssessments(kit.services, kit.workspace)).toBe(1);
  expect(await refusalOf(kit.ask('get_assessment', { id }))).toBe('not_found');
  expect((await kit.services.store.list(kit.workspace, 'AssessmentPage')).items).toEqual([]);
});
