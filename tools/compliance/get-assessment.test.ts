import { expect, test } from 'vitest';
import { formatInstant } from '../../core/base/time.ts';
import { buildWorkspaceKit, refusalOf } from '../../test/kits/plane/workspace-kit.ts';

test('an assessment stays as it was made, whatever becomes of the network', async () => {
  await using kit = await buildWorkspaceKit();
  const period_start = formatInstant(kit.clock.time - 1);
  const made = await kit.ask('assess_compliance', { framework: 'pci-dss', period_start });
  await kit.ask('create_policy', { name: 'base', spec: { action: 'DENY', peerSelector: {} } });
  expect(await kit.as('auditor')('get_assessment', { id: made.evidence_id })).toEqual(made);
});

test('an assessment of another workspace, and one that there is not, are not found', async () => {
  await using kit = await buildWorkspaceKit();
  const period_start = formatInstant(kit.clock.time - 1);
  const { evidence_id: id } = await kit.ask('assess_compliance', { framework: 'soc2', period_start });
  expect(await refusalOf(kit.foreign('get_assessment', { id }))).toBe('not_found');
  expect(await refusalOf(kit.ask('get_assessment', { id: 'ev_none' }))).toBe('not_found');
  expect(await refusalOf(kit.as('viewer')('get_assessment', { id }))).toBe('forbidden compliance:assess');
});
