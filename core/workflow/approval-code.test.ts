import { expect, test } from 'vitest';
import { ADMIN_PASSWORD, buildPeopleKit } from '../../test/kits/plane/identity-kit.ts';
import { refusalOf } from '../../test/kits/plane/workspace-kit.ts';
import { otpCode, otpStep } from '../identity/otp.ts';

/** A policy of ada waits in a workspace that asks for codes; root, who may approve it, has a second factor. */
async function scene() {
  const kit = await buildPeopleKit();
  await kit.haveSettings(kit.prod, { requireApproval: true, approvalCode: true, selfApproval: true });
  const bob = kit.askWith(await kit.person('bob', 'operator', kit.prod));
  const spec = { action: 'DENY', peerSelector: {} };
  const { workflow_id: id } = await bob('create_policy', { name: 'shut', spec });
  const { uri } = await kit.root('begin_otp', { password: ADMIN_PASSWORD });
  const digits = [...(new URL(uri).searchParams.get('secret') ?? '')];
  const bits = digits.map((digit) => 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567'.indexOf(digit).toString(2).padStart(5, '0'));
  const secret = Uint8Array.from((bits.join('').match(/.{8}/g) ?? []).map((byte) => Number.parseInt(byte, 2)));
  const code = () => otpCode(secret, otpStep(kit.clock.time));
  await kit.root('confirm_otp', { code: code() });
  kit.clock.time += 30_000;
  return { ...kit, bob, id: id as string, code };
}

test('a workspace that asks for a code has nothing approved by a session alone, nor by a code twice', async () => {
  await using kit = await scene();
  const { id } = kit;
  expect((await kit.root('redraw_workflow', { id })).decision).toMatchObject({
    may_approve: true,
    code_required: true,
  });
  expect(await refusalOf(kit.root('approve_workflow', { id }))).toBe('invalid_input /otp');
  expect(await refusalOf(kit.root('approve_workflow', { id, otp: '000000' }))).toBe('invalid_input /otp');
  const otp = kit.code();
  expect(await kit.root('approve_workflow', { id, otp })).toMatchObject({ status: 'executed' });
  const { workflow_id: next } = await kit.bob('delete_policy', { id: 'shut' });
  expect(await refusalOf(kit.root('approve_workflow', { id: next, otp }))).toBe('invalid_input /otp');
});

test('who has no second factor may not approve there, and rejecting takes no code', async () => {
  await using kit = await scene();
  const { id } = kit;
  expect((await kit.ada('redraw_workflow', { id })).decision).toMatchObject({
    others: ['bob'],
    may_approve: false,
    why: expect.stringContaining('enrol one'),
  });
  expect(await refusalOf(kit.ada('approve_workflow', { id }))).toBe('forbidden');
  expect(await kit.ada('reject_workflow', { id, note: 'Which port do you need?' })).toMatchObject({
    status: 'rejected',
  });
});

test('to ask for no code any more is a weaker setting, which waits for a person where changes do', async () => {
  await using kit = await scene();
  const { status } = await kit.ada('update_workspace', { settings: { approvalCode: false } });
  expect(status).toBe('pending_approval');
});

test('who asked is not told as one who may approve it, where that takes another person', async () => {
  await using kit = await scene();
  const { id } = kit;
  const others = async () => (await kit.root('redraw_workflow', { id })).decision.others;
  expect(await others()).toEqual(['ada', 'bob']);
  const { workflow_id: weaker } = await kit.ada('update_workspace', { settings: { selfApproval: false } });
  if (weaker) await kit.root('approve_workflow', { id: weaker, otp: kit.code() });
  expect(await others()).toEqual(['ada']);
});
