import { expect, test } from 'vitest';
import { buildPeopleKit } from '../../test/kits/plane/identity-kit.ts';
import { endApproval } from './end-approval.ts';

const DAY_MS = 86_400_000;
const FOUR_EYES = { requireApproval: true, compliance: { secondPerson: true, cde: ['zone=card'] } };

test('the host ends the need for a second person, the logs say so, and every administrator is told for a while', async () => {
  await using kit = await buildPeopleKit();
  await kit.haveSettings(kit.prod, FOUR_EYES);
  const { workflow_id: id } = await kit.ada('create_policy', {
    name: 'shut',
    spec: { action: 'DENY', peerSelector: {} },
  });
  await expect(kit.ada('approve_workflow', { id })).rejects.toMatchObject({
    message: expect.stringMatching(/^(?!.*controls fail).*: selfApproval is not on.*: meshd end-approval prod$/),
  });
  await endApproval(kit.services, 'prod');
  expect(await kit.ada('approve_workflow', { id })).toMatchObject({ status: 'executed', selfApproved: true });
  const { settings, approvalEndedAt } = await kit.ada('get_workspace');
  expect(settings).toMatchObject({ requireApproval: true, selfApproval: true, compliance: { cde: ['zone=card'] } });
  expect(settings.compliance).not.toHaveProperty('secondPerson');
  expect(approvalEndedAt).toMatch(/^2026-/);
  const told = { actor: 'system:operator', result: 'ok' };
  expect(await kit.events(kit.prod)).toContainEqual(expect.objectContaining({ ...told, type: 'approval.ended' }));
  const [last] = await kit.services.store.audit('w_system', { type: 'commit', limit: 1 });
  expect(last?.commit).toMatchObject({ actor: 'system:operator', reason: expect.stringContaining('end-approval') });

  const codes = async (ask: typeof kit.ada) =>
    (await ask('get_overview')).warnings.map(({ code }: { code: string }) => code);
  expect(await codes(kit.ada)).toContain('approval-ended');
  expect(await codes(kit.root)).toContain('approval-ended');
  expect(await codes(kit.vic)).not.toContain('approval-ended');
  await kit.haveSettings(kit.prod, { selfApproval: false });
  expect(await codes(kit.ada)).not.toContain('approval-ended');
  await kit.haveSettings(kit.prod, { selfApproval: true });
  const { warnings } = await kit.ada('get_overview');
  expect(warnings).toContainEqual(
    expect.objectContaining({ code: 'approval-ended', remedy: expect.stringContaining('selfApproval: null') }),
  );
  kit.clock.time += 30 * DAY_MS;
  expect(await codes(kit.askWith(await kit.sessionOf('ada')))).not.toContain('approval-ended');
});

test('what is no workspace, or needs no second person, is refused', async () => {
  await using kit = await buildPeopleKit();
  await expect(endApproval(kit.services, 'nowhere')).rejects.toMatchObject({ code: 'not_found' });
  await endApproval(kit.services, kit.prod);
  await expect(endApproval(kit.services, kit.prod)).rejects.toMatchObject({ code: 'conflict' });
});
