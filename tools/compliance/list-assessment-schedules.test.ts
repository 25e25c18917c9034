import { expect, test } from 'vitest';
import { buildWorkspaceKit, refusalOf } from '../../test/kits/plane/workspace-kit.ts';

test('schedules are listed with when each is due next by the clocks of the workspace; who assesses may see them', async () => {
  await using kit = await buildWorkspaceKit({ now: Date.UTC(2026, 2, 28, 12) });
  await kit.ask('update_workspace', { settings: { timeZone: 'Europe/Zurich' } });
  await kit.ask('set_assessment_schedule', { framework: 'hipaa', cadence: 'daily', enabled: false });
  await kit.ask('set_assessment_schedule', { framework: 'pci-dss', cadence: 'daily' });
  const { items } = await kit.as('auditor')('list_assessment_schedules');
  expect(items).toEqual([
    { framework: 'hipaa', cadence: 'daily', days: null, enabled: false, next_at: null },
    { framework: 'pci-dss', cadence: 'daily', days: null, enabled: true, next_at: '2026-03-29T01:00:00.000Z' },
  ]);
  expect(await kit.foreign('list_assessment_schedules')).toEqual({ items: [] });
  expect(await refusalOf(kit.as('viewer')('list_assessment_schedules'))).toBe('forbidden compliance:assess');
});
