import { expect, test } from 'vitest';
import { startFaces } from './kits/http/faces-kit.ts';
import { reading } from './kits/http/read-events.ts';
import { person } from './kits/plane/kit.ts';
import { rowsOf, sectionsOf } from './kits/process/page-blocks.ts';

const MINUTE_MS = 60_000;

/** The fields that docs/events.md names for the event, those of a control apart. */
function documented(): { readonly fields: string[]; readonly ofControl: string[] } {
  const [events] = sectionsOf('docs/events.md');
  const [, data = ''] = rowsOf(events?.text ?? '').find(([name]) => name === '`compliance.drift`') ?? [];
  const [, before = '', inside = ''] = /^(.*?)\[\{(.*?)\}\]/.exec(data) ?? [];
  return { fields: before.replaceAll('`', '').split(', '), ofControl: inside.split(', ') };
}

test('the event compliance.drift has the fields that its page names, under the id of the change before it', async () => {
  await using faces = await startFaces();
  const { kit } = faces;
  const workspace = await kit.workspace('own');
  const as = person('admin', workspace);
  faces.callers.set('admin', as);
  const assess = async () => {
    kit.clock.time += MINUTE_MS;
    const period_start = new Date(kit.clock.time - MINUTE_MS).toISOString();
    return kit.call('assess_compliance', { framework: 'pci-dss', period_start }, { as, workspace });
  };
  const first = await assess();
  const spec = { action: 'DENY', peerSelector: {} };
  await kit.call('create_policy', { name: 'base', spec }, { as, workspace });
  const events = reading(await faces.send('/api/v1/events', 'admin'));
  const second = await assess();
  let before = await events.next();
  let drift = await events.next();
  while (drift && drift.event !== 'compliance.drift') [before, drift] = [drift, await events.next()];
  await events.stop();
  expect(drift?.id).toBe(before?.id);
  expect(before?.data.changes).toContainEqual(
    expect.objectContaining({ type: 'created', kind: 'ComplianceDrift', id: drift?.data.id }),
  );
  expect(drift?.data).toMatchObject({
    framework: 'pci-dss',
    at: new Date(kit.clock.time).toISOString(),
    evidence_id: second.evidence_id,
    previous_evidence_id: first.evidence_id,
  });
  const { fields, ofControl } = documented();
  expect(Object.keys(drift?.data)).toEqual(fields);
  expect(drift?.data.controls.length).toBeGreaterThan(0);
  for (const control of drift?.data.controls ?? []) expect(Object.keys(control)).toEqual(ofControl);
});
