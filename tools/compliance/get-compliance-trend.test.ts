import { expect, test } from 'vitest';
import { formatInstant } from '../../core/base/time.ts';
import { buildWorkspaceKit, refusalOf } from '../../test/kits/plane/workspace-kit.ts';

test('a trend has the assessments of one framework, oldest first, with how many controls had which result', async () => {
  await using kit = await buildWorkspaceKit();
  const made: string[] = [];
  for (const framework of ['PCI', 'soc2', 'pci-dss']) {
    kit.clock.time += 86_400_000;
    const at = formatInstant(kit.clock.time);
    const from = formatInstant(kit.clock.time - 1);
    const answer = await kit.ask('assess_compliance', { framework, period_start: from });
    if (framework === 'soc2') continue;
    made.push(answer.evidence_id);
    const count = (status: string) => answer.controls.filter((one: { status: string }) => one.status === status).length;
    const { points } = await kit.as('auditor')('get_compliance_trend', { framework: 'pci-dss' });
    expect(points.at(-1)).toEqual({
      generated_at: at,
      period_start: from,
      period_end: at,
      score: answer.score,
      counts: { pass: count('pass'), fail: count('fail'), insufficient_evidence: count('insufficient_evidence') },
      evidence_id: answer.evidence_id,
    });
  }
  const trend = await kit.ask('get_compliance_trend', { framework: 'pci_dss' });
  expect(trend.points.map(({ evidence_id: id }: { evidence_id: string }) => id)).toEqual(made);
  expect(trend).toMatchObject({ framework: 'pci-dss', more: false });
});

test('a trend is of a framework that there is, of the own workspace, for who may assess', async () => {
  await using kit = await buildWorkspaceKit();
  expect(await refusalOf(kit.ask('get_compliance_trend', { framework: 'iso' }))).toBe('invalid_input /framework');
  expect(await kit.foreign('get_compliance_trend', { framework: 'soc2' })).toMatchObject({ points: [] });
  const viewer = kit.as('viewer')('get_compliance_trend', { framework: 'soc2' });
  expect(await refusalOf(viewer)).toBe('forbidden compliance:assess');
});
