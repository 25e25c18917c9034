import { expect, test } from 'vitest';
import { formatInstant } from '../../core/base/time.ts';
import { buildWorkspaceKit, refusalOf } from '../../test/kits/plane/workspace-kit.ts';

const DENY = { action: 'DENY', peerSelector: {} };

test('what two assessments that follow one another judge differently is listed, newest first, in pages', async () => {
  await using kit = await buildWorkspaceKit();
  await kit.join('web-1');
  const assess = async () => {
    kit.clock.time += 60_000;
    await kit.ask('assess_compliance', { framework: 'soc2', period_start: formatInstant(kit.clock.time - 1) });
  };
  await assess();
  await kit.ask('create_policy', { name: 'base', spec: DENY });
  await assess();
  await assess();
  await kit.ask('delete_policy', { id: 'base' });
  await assess();
  const { items } = await kit.as('auditor')('list_compliance_drift');
  expect(items).toHaveLength(2);
  const [lost, won] = items;
  const mirrored = won.controls.map(({ control, from, to }: Record<string, string>) => [control, to, from]);
  expect(lost.controls.map(({ control, from, to }: Record<string, string>) => [control, from, to])).toEqual(mirrored);
  expect(lost.controls.some(({ to }: { to: string }) => to === 'fail')).toBe(true);
  const first = await kit.ask('list_compliance_drift', { limit: 1 });
  const next = await kit.ask('list_compliance_drift', { limit: 1, cursor: first.next_cursor });
  expect([first.items[0].id, next.items[0].id]).toEqual([lost.id, won.id]);
  const [{ control }] = lost.controls;
  const one = (await kit.ask('list_compliance_drift', { control, framework: 'SOC2', since: lost.at })).items;
  expect(one.map(({ id, controls }: { id: string; controls: { control: string }[] }) => [id, controls.length])).toEqual(
    [[lost.id, 1]],
  );
  expect((await kit.ask('list_compliance_drift', { framework: 'hipaa' })).items).toEqual([]);
  expect((await kit.ask('list_compliance_drift', { control: 'SOC2-none' })).items).toEqual([]);
  expect(await refusalOf(kit.ask('list_compliance_drift', { framework: 'iso' }))).toBe('invalid_input /framework');
  expect(await kit.foreign('list_compliance_drift')).toEqual({ items: [] });
  expect(await refusalOf(kit.as('viewer')('list_compliance_drift'))).toBe('forbidden compliance:assess');
});
