import { expect, test } from 'vitest';
import { formatInstant } from '../../core/base/time.ts';
import { buildWorkspaceKit, refusalOf } from '../../test/kits/plane/workspace-kit.ts';

test('two assessments are compared by the controls that they judge otherwise', async () => {
  await using kit = await buildWorkspaceKit();
  const assess = async (framework: string): Promise<string> => {
    kit.clock.time += 1_000;
    const from = formatInstant(kit.clock.time - 1);
    return (await kit.ask('assess_compliance', { framework, period_start: from })).evidence_id;
  };
  const from = await assess('pci-dss');
  await kit.ask('create_policy', { name: 'base', spec: { action: 'DENY', peerSelector: {} } });
  const to = await assess('pci');
  const compared = await kit.as('auditor')('compare_assessments', { earlier: from, later: to });
  expect(compared.controls).toEqual(expect.arrayContaining([{ id: 'PCI-DSS-1.2', from: 'fail', to: 'pass' }]));
  expect(compared.score_change).toBe(compared.to.score - compared.from.score);
  const other = await assess('soc2');
  expect(await refusalOf(kit.ask('compare_assessments', { earlier: from, later: other }))).toBe('invalid_input /later');
  expect(await refusalOf(kit.foreign('compare_assessments', { earlier: from, later: to }))).toBe('not_found');
});
