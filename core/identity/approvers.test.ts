import { describe, expect, test } from 'vitest';
import {
  buildIdentityKit,
  buildPeopleKit,
  CONTEXT,
  type IdentityKitOptions,
} from '../../test/kits/plane/identity-kit.ts';
import { buildIssuerKit, identity } from '../../test/kits/plane/issuer-kit.ts';
import { refusalOf } from '../../test/kits/plane/workspace-kit.ts';
import { SYSTEM_WORKSPACE } from '../base/ids.ts';
import { accountDraft, findAccount } from './accounts.ts';
import { approversOf } from './approvers.ts';
import { memberDraft } from './members.ts';
import { otpCode, otpStep } from './otp.ts';
import { hashPassword } from './passwords.ts';
import { openSecret } from './sealed-secret.ts';

const PASSWORD = 'a-good-Pass-1';
const HELD = { status: 'pending_approval', another_person: true };
const openPlan = { intent: 'shut it', changes: [] as unknown[] };

/** A workspace whose only approver is the administrator of the installation. */
async function alone(options: IdentityKitOptions = {}) {
  const kit = await buildIdentityKit(options);
  const prod = await kit.workspace('prod');
  const as =
    (bearer: string) =>
    (name: string, raw: Record<string, unknown> = {}) =>
      // biome-ignore lint/suspicious/noExplicitAny: each test knows the answer of the operation it names.
      kit.call<any>(name, raw, { bearer, workspace: prod });
  const root = as(await kit.admin());
  /** Tells whether root may approve what root asks for. */
  const approvesOwn = async () => {
    const spec = { action: 'DENY', peerSelector: {} };
    const changes = [{ action: 'create', resource: 'MeshPolicy', name: 'shut', spec }];
    const plan = await root('plan_network_change', { ...openPlan, changes });
    return plan.another_person !== true;
  };
  return { ...kit, prod, as, root, approvesOwn };
}

describe('a second approver', () => {
  test('ends self-approval once they have signed in with a password of their own, and what adds them says so', async () => {
    await using kit = await alone();
    await kit.root('create_user', { username: 'bob', password: PASSWORD });
    const added = await kit.root('set_member', { username: 'bob', role: 'admin' });
    expect(added.notice).toMatch(
      /^Once bob signs in from now on, with a password of their own or by an issuer, this workspace has two approvers: .* Until then nothing/,
    );
    expect(await kit.approvesOwn()).toBe(true);
    const bob = await kit.login('bob', PASSWORD);
    expect(await kit.approvesOwn()).toBe(true);
    await kit.as(bob)('change_password', { oldPassword: PASSWORD, newPassword: 'of-bob-alone-7' });
    expect(await kit.approvesOwn()).toBe(false);
  });

  test('counts still when somebody else resets their password', async () => {
    await using kit = await alone();
    await kit.root('create_user', { username: 'bob', password: PASSWORD });
    await kit.root('set_member', { username: 'bob', role: 'admin' });
    await kit.loginWithOwn('bob', PASSWORD);
    await kit.root('update_user', { username: 'bob', password: 'reset-by-root-7' });
    expect(await kit.approvesOwn()).toBe(false);
    await kit.login('bob', 'reset-by-root-7');
    expect(await kit.approvesOwn()).toBe(false);
  });

  test('who has yet to enrol a second factor counts once they have', async () => {
    await using kit = await alone({ signIn: { secondFactor: 'administrators' } });
    const spec = { displayName: '', role: 'user', disabled: false, epoch: 1, passwordState: 'own' } as const;
    const record = accountDraft('bob', { ...spec, passwordHash: await hashPassword(PASSWORD), signedInAt: 0 });
    await kit.services.store.commit(SYSTEM_WORKSPACE, [{ op: 'create', record }], CONTEXT);
    await kit.services.store.commit(kit.prod, [{ op: 'create', record: memberDraft('bob', 'admin') }], CONTEXT);
    const counts = async () => (await approversOf(kit.services, kit.prod)).signedIn.has('bob');
    const bob = kit.as(await kit.login('bob', PASSWORD));
    expect(await counts()).toBe(false);
    await bob('begin_otp', { password: PASSWORD });
    const { enrolment } = (await findAccount(kit.services, 'bob'))?.spec ?? {};
    const secret = openSecret(kit.services.keys, record.uid, enrolment?.secret ?? '') ?? new Uint8Array();
    await bob('confirm_otp', { code: otpCode(secret, otpStep(kit.clock.time)) });
    expect(await counts()).toBe(true);
  });

  test('who administers the installation counts from then on too', async () => {
    await using kit = await alone();
    const made = await kit.root('create_user', { username: 'bob', password: PASSWORD, role: 'platform_admin' });
    expect(made.notice).toContain('Once bob signs in from now on');
    expect(await kit.approvesOwn()).toBe(true);
    await kit.loginWithOwn('bob', PASSWORD);
    expect(await kit.approvesOwn()).toBe(false);
  });

  test('who signed in before they were made one counts with their next login, whoever has that name', async () => {
    await using kit = await alone();
    await kit.root('create_user', { username: 'bob', password: PASSWORD });
    await kit.loginWithOwn('bob', PASSWORD);
    kit.clock.time += 60_000;
    const real = await kit.root('set_member', { username: 'bob', role: 'operator' });
    const invented = await kit.root('set_member', { username: 'eve', role: 'operator' });
    expect(invented.notice).toBe(real.notice.replaceAll('bob', 'eve'));
    expect(await kit.approvesOwn()).toBe(true);
    await kit.loginWithOwn('bob', PASSWORD);
    expect(await kit.approvesOwn()).toBe(false);
  });

  test('counts with a sign-in since they became one, by an issuer as with a password', async () => {
    await using kit = await buildIssuerKit();
    const bearer = await kit.admin();
    const as = { bearer, workspace: kit.prod };
    await kit.call('create_user', { username: 'bob', password: PASSWORD }, { bearer });
    await kit.loginWithOwn('bob', PASSWORD);
    const { username } = await kit.signIn(identity('ada@example.com'), 'open');
    kit.clock.time += 60_000;
    for (const member of ['bob', username]) await kit.call('set_member', { username: member, role: 'admin' }, as);
    const counting = async () => {
      const { items } = await kit.call<{ items: Record<string, unknown>[] }>('list_members', {}, as);
      return items.filter((item) => item['countsAsApprover']).map((item) => item['username']);
    };
    expect(await counting()).toEqual([]);
    await kit.login('bob', PASSWORD);
    expect(await counting()).toEqual(['bob']);
    await kit.signIn(identity('ada@example.com'), 'open');
    expect(await counting()).toEqual([username, 'bob']);
  });

  test('who only views, or is one of several, changes nothing and is added without a notice', async () => {
    await using kit = await buildPeopleKit();
    expect(await kit.ada('set_member', { username: 'bob', role: 'operator' })).not.toHaveProperty('notice');
    await using single = await alone();
    expect(await single.root('set_member', { username: 'bob', role: 'viewer' })).not.toHaveProperty('notice');
  });

  test('whose account an older version stored counts, for it does not say when they signed in', async () => {
    await using kit = await alone();
    const spec = { displayName: '', role: 'user', disabled: false, epoch: 1, passwordState: 'own' } as const;
    const record = accountDraft('bob', { ...spec, passwordHash: '' });
    await kit.services.store.commit(SYSTEM_WORKSPACE, [{ op: 'create', record }], CONTEXT);
    await kit.root('set_member', { username: 'bob', role: 'admin' });
    expect(await kit.approvesOwn()).toBe(false);
  });
});

describe('to turn the protection off', () => {
  const weaker: readonly [string, Record<string, unknown>, Record<string, unknown>][] = [
    ['selfApproval', {}, { selfApproval: true }],
    ['selfApproval that is off', { selfApproval: false }, { selfApproval: null }],
    ['requireApproval', { requireApproval: true }, { requireApproval: false }],
    ['approvalCode', { approvalCode: true }, { approvalCode: false }],
    ['autoApprove', {}, { autoApprove: { maxRisk: 'low' } }],
    ['autoApprove for more risk', { autoApprove: { maxRisk: 'low' } }, { autoApprove: { maxRisk: 'medium' } }],
    [
      'autoApprove without a sentence',
      { autoApprove: { maxRisk: 'low' } },
      { autoApprove: { maxRisk: 'low', from: ['person'] } },
    ],
    [
      'autoApprove for more requesters',
      { autoApprove: { maxRisk: 'low', from: ['person'] } },
      { autoApprove: { maxRisk: 'low', from: ['person', 'agent'] } },
    ],
    [
      'autoApprove for all requesters',
      { autoApprove: { maxRisk: 'low', from: ['person'] } },
      { autoApprove: { maxRisk: 'low' } },
    ],
    ['secondPerson', { compliance: { secondPerson: true } }, { compliance: { secondPerson: false } }],
    [
      'secondPerson, beside selfApproval',
      { selfApproval: true, compliance: { secondPerson: true } },
      { compliance: null },
    ],
  ];

  test.each(weaker)('by %s needs the second person', async (_what, before, settings) => {
    await using kit = await buildPeopleKit();
    await kit.haveSettings(kit.prod, before);
    const shown = await kit.ada('get_workspace');
    const held = await kit.ada('update_workspace', { settings });
    expect(held).toMatchObject(HELD);
    expect(await refusalOf(kit.ada('approve_workflow', { id: held.workflow_id }))).toBe('forbidden');
    expect(await kit.ada('get_workspace')).toEqual(shown);
  });

  test('by both works', async () => {
    await using kit = await buildPeopleKit();
    const { workflow_id: id } = await kit.ada('update_workspace', { settings: { selfApproval: true } });
    expect(await kit.root('approve_workflow', { id })).toMatchObject({ status: 'executed' });
    expect((await kit.ada('get_workspace')).settings).toMatchObject({ selfApproval: true });
  });

  test.each(weaker)('by %s takes a single approver alone', async (_what, before, settings) => {
    await using kit = await alone();
    await kit.root('set_member', { username: 'bob', role: 'admin' });
    await kit.haveSettings(kit.prod, before);
    const answer = await kit.root('update_workspace', { settings });
    if (answer.workflow_id === undefined) return expect(answer).toHaveProperty('settings');
    expect(await kit.root('approve_workflow', { id: answer.workflow_id })).toMatchObject({ status: 'executed' });
  });

  test('is nothing that was asked for where the settings get stricter', async () => {
    await using kit = await buildPeopleKit();
    const settings = { requireApproval: true, selfApproval: false, approvalCode: true };
    expect((await kit.ada('update_workspace', { settings })).settings).toMatchObject(settings);
  });
});
