import { describe, expect, it } from 'vitest';
import type { PolicySpec, Selector } from '../../core/model/policy.ts';
import { buildScene, only } from './scene.ts';

const SECRET = { peers: ['secret-1'] };
const OPEN = { src: 'web-1', dst: 'secret-1', expect: 'allow' };
const SETTINGS = { requireApproval: true, selfApproval: false, autoApprove: { maxRisk: 'low' } };
const SCOPES = ['network:read', 'intents:plan', 'intents:apply'] as const;
const LATER = 600_000;
const denyFrom = (peerSelector: Selector, subject: Selector = {}): PolicySpec => ({
  action: 'DENY',
  peerSelector: subject,
  ingress: [{ from: [{ peerSelector }] }],
});
const NOBODY_OF_TODAY: Selector = {
  matchExpressions: [{ key: 'role', operator: 'NotIn', values: ['web', 'db', 'secret'] }],
};

/** A workspace that is open to whoever joins, and a root agent whose plans of low risk are approved by themselves. */
async function scene() {
  const at = await buildScene();
  await at.call(at.ada, 'delete_policy', { id: 'base' });
  const api = await at.call(at.ada, 'generate_join_token', { name: 'api', labels: { role: 'api' } });
  const policy = (name: string, spec: PolicySpec) => at.call(at.ada, 'create_policy', { name, spec });
  const { token } = await at.agent('bot', SCOPES, { reach: [] });
  const allowing = async (autoApprove: object | null) =>
    at.kit.haveSettings(at.workspace, { ...SETTINGS, autoApprove });

  async function planned(spec: PolicySpec, maxRisk = 'low', ...expectations: readonly object[]) {
    await allowing({ maxRisk, from: ['agent'] });
    const changes = [{ action: 'create', resource: 'MeshPolicy', name: 'x', spec }];
    const plan = await at.call(token, 'plan_network_change', {
      intent: 'x',
      changes,
      expectations: expectations.length > 0 ? expectations : [OPEN],
    });
    expect(plan.expectations_hold).toBe(true);
    const { status, workflow_id } = await at.call(token, 'apply_network_change', {
      plan_id: plan.plan_id,
      approved_by: 'grace',
    });
    return { plan, workflow_id, shown: { warning: plan.warnings[0], risk: plan.risk_level, status } };
  }
  return { at, planned, policy, allowing, apiToken: api.id, [Symbol.asyncDispose]: () => at[Symbol.asyncDispose]() };
}

const IDLE = 'nothing opens and nothing closes when this plan is applied';
const WAITS = { risk: 'medium', status: 'pending_approval' };

describe('a plan of a root agent is not approved by itself, and says first', () => {
  it.each<[string, PolicySpec, string]>([
    [
      'that it closes every peer to whoever joins later',
      denyFrom(NOBODY_OF_TODAY),
      'it would close every device that joins later to db-1 on everything',
    ],
    [
      'that it closes a peer to who is none of the peers of today',
      denyFrom({ notPeers: ['web-1', 'db-1', 'secret-1'] }, SECRET),
      'it would close every device that joins later to secret-1 on everything',
    ],
    [
      'that it closes peers to devices of a label whose token is out',
      denyFrom(only('api'), SECRET),
      'it would close every device that joins later with role=api to secret-1 on everything',
    ],
    [
      'that it closes devices of a label whose token is out to peers',
      { action: 'ALLOW', peerSelector: only('api'), ingress: [] },
      'it would close db-1 and 2 more to every device that joins later with role=api on everything',
    ],
  ])('%s', async (_what, spec, warning) => {
    await using on = await scene();
    const { plan, shown } = await on.planned(spec);
    expect(shown).toMatchObject(WAITS);
    expect(shown.warning).toContain(warning);
    expect(plan.effect).toMatchObject({ closed_pairs: 0, opened_pairs: 0 });
    expect(plan.diff_markdown).toContain('A signed-in person with workflows:approve');
  });

  it('that it closes a peer to a device that waits to be let in', async () => {
    await using on = await scene();
    const { at } = on;
    await at.call(at.ada, 'update_workspace', { settings: { requirePeerApproval: true } });
    const { token } = await at.call(at.ada, 'generate_join_token', { name: 'plain' });
    await at.enrol(token, 'laptop');
    const { shown } = await on.planned(denyFrom({ peers: ['laptop'] }, SECRET));
    expect(shown).toEqual({
      warning: 'it would close the device laptop, once it is let in, to secret-1 on everything',
      ...WAITS,
    });
  });

  it('that it keeps closed what opens once a policy has ended, however much risk is accepted', async () => {
    await using on = await scene();
    const end = new Date(on.at.kit.clock.time + LATER).toISOString();
    const mask = denyFrom({}, SECRET);
    await on.policy('mask', { ...mask, expiresAt: end });
    const { shown } = await on.planned(mask, 'critical', { ...OPEN, dst: 'db-1' });
    expect(shown).toMatchObject({ risk: 'high', status: 'pending_approval' });
    expect(shown.warning).toMatch(
      /^it closes more once policies have ended: it would close .* to secret-1 on everything/,
    );
  });
});

const NEWCOMERS = { src: '*', except: ['web-1', 'db-1', 'secret-1'], expect: 'deny' };

describe('a plan is approved by itself', () => {
  it.each<[PolicySpec, object]>([
    [denyFrom(only('api'), SECRET), { ...NEWCOMERS, dst: 'secret-1' }],
    [denyFrom(NOBODY_OF_TODAY), { ...NEWCOMERS, dst: '*' }],
  ])('where what it closes to newcomers was named, at the risk of any closing: %j', async (spec, named) => {
    await using on = await scene();
    const { plan, shown } = await on.planned(spec, 'medium', named, OPEN);
    expect(shown).toEqual({ warning: IDLE, risk: 'medium', status: 'executed' });
    expect(plan.risk_reasons).toEqual(['closes connections later, or of devices that join later']);
  });

  it('where the sentence closes the network to whoever comes', async () => {
    await using on = await scene();
    await on.allowing({ maxRisk: 'critical' });
    const plan = await on.at.call(on.at.ada, 'plan_network_change', { intent: 'deny everything by default' });
    expect(plan).toMatchObject({ check: 'matches', warnings: [] });
  });
});

describe('what was approved is what was shown, also of what closes for newcomers', () => {
  it.each([
    ['fails where others by now would be closed out', [OPEN], 'failed'],
    ['is carried out where all of them were named', [{ ...NEWCOMERS, dst: 'secret-1' }, OPEN], 'executed'],
  ])('so a plan %s', async (_what, expectations, status) => {
    await using on = await scene();
    const { workflow_id: id } = await on.planned(denyFrom(NOBODY_OF_TODAY, SECRET), 'low', ...expectations);
    await on.at.call(on.at.ada, 'revoke_join_token', { id: on.apiToken });
    const approval = on.at.call(on.at.grace, 'approve_workflow', { id });
    if (status === 'failed') await expect(approval).rejects.toMatchObject({ code: 'plan_stale' });
    else await approval;
    expect(await on.at.call(on.at.grace, 'get_workflow', { id })).toMatchObject({ status });
  });
});
