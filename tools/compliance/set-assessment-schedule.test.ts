import { expect, test } from 'vitest';
import { buildWorkspaceKit, refusalOf } from '../../test/kits/plane/workspace-kit.ts';

test('a framework has one schedule: to set it again replaces it, under whichever name', async () => {
  await using kit = await buildWorkspaceKit();
  await kit.ask('set_assessment_schedule', { framework: 'PCI', cadence: 'weekly', days: 90 });
  await kit.ask('set_assessment_schedule', { framework: 'soc2', cadence: 'quarterly', enabled: false });
  const set = await kit.ask('set_assessment_schedule', { framework: 'pci-dss', cadence: 'daily' });
  expect(set).toMatchObject({ framework: 'pci-dss', cadence: 'daily', days: null, enabled: true });
  const { settings } = await kit.ask('get_workspace');
  expect(settings.compliance.schedules).toEqual({
    'pci-dss': { cadence: 'daily', enabled: true },
    soc2: { cadence: 'quarterly', enabled: false },
  });
});

test('a schedule has a framework and a cadence that there are, and at most a year of days; only administrators set it', async () => {
  await using kit = await buildWorkspaceKit();
  const set = (asked: object) => refusalOf(kit.ask('set_assessment_schedule', { framework: 'soc2', ...asked }));
  expect(await set({ cadence: 'hourly' })).toBe('invalid_input /cadence');
  expect(await set({ cadence: 'daily', days: 0 })).toBe('invalid_input /days');
  expect(await set({ cadence: 'daily', days: 366 })).toBe('invalid_input /days');
  expect(await set({ cadence: 'daily', framework: 'iso' })).toBe('invalid_input /framework');
  const asked = { framework: 'soc2', cadence: 'daily' };
  expect(await refusalOf(kit.as('auditor')('set_assessment_schedule', asked))).toBe('forbidden members:write');
  expect(await refusalOf(kit.holding('members:write')('set_assessment_schedule', asked))).toBe('forbidden');
});
