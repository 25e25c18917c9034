import { describe, expect, it } from 'vitest';
import { agent, buildKit } from '../../../test/kits/plane/kit.ts';
import { seedPeers } from '../../../test/kits/records/seed-peers.ts';
import { MeshError } from '../../base/errors.ts';
import type { PolicySpec } from '../../model/policy.ts';
import type { Expectation } from '../verify/expectation.ts';
import type { PlanAnswer, Planner, PlanQuestion } from './planner.ts';

const WEB_ON_5432: Expectation = { src: 'role=web', dst: 'role=db', protocol: 'TCP', port: 5432, expect: 'allow' };
const NOBODY_ELSE: Expectation = { src: '*', except: ['role=web'], dst: 'role=db', expect: 'deny' };
const only = (role: string) => ({ matchLabels: { role } });
const spec = (...from: string[]): PolicySpec => ({
  action: 'ALLOW',
  peerSelector: only('db'),
  ingress: [{ from: from.map((role) => ({ peerSelector: only(role) })), ports: [{ protocol: 'TCP', port: 5432 }] }],
});
const answer = (policy: PolicySpec, more: Partial<Extract<PlanAnswer, { outcome: 'changes' }>> = {}): PlanAnswer => ({
  outcome: 'changes',
  changes: [{ action: 'create', resource: 'MeshPolicy', name: 'web-to-db', spec: policy }],
  expectations: [WEB_ON_5432, NOBODY_ELSE],
  summary: 'Let only web reach db.',
  ...more,
});
const TOO_WIDE = answer(spec('web', 'guest'));
const NO_API: Expectation = { src: 'role=api', dst: 'role=db', expect: 'deny' };
const WIDER = answer(spec('web', 'guest', 'api'), { expectations: [WEB_ON_5432, NOBODY_ELSE, NO_API] });
const RIGHT = answer(spec('web'));
const NO_MORE: PlanAnswer = { outcome: 'refused', reason: 'no idea', questions: ['Which one?'], choices: [] };

/** A planner that gives these answers, one a question, and what it was asked. */
async function ask(answers: readonly PlanAnswer[], input: Record<string, unknown> = {}) {
  const questions: PlanQuestion[] = [];
  const planner: Planner = {
    name: 'scripted',
    plan: (question) => Promise.resolve(answers[questions.push(question) - 1] ?? NO_MORE),
  };
  const kit = await buildKit({ planner });
  const workspace = await kit.workspace();
  await seedPeers(kit.services, workspace, {
    'web-1': { role: 'web' },
    'db-1': { role: 'db' },
    'guest-1': { role: 'guest' },
    'api-1': { role: 'api' },
  });
  const as = agent(['network:read', 'intents:plan'], workspace);
  const plan = kit.call('plan_network_change', { intent: 'web to db only', ...input }, { as, workspace });
  await plan.catch(() => undefined);
  await kit[Symbol.asyncDispose]();
  return { plan, questions };
}

describe('a planner', () => {
  it('is asked for words about a plan that can be applied, and not about a dry run', async () => {
    let asked = 0;
    const wording = () => Promise.resolve(`wording ${++asked}`);
    const planner: Planner = { name: 'scripted', plan: () => Promise.resolve(RIGHT), wording };
    await using kit = await buildKit({ planner });
    const workspace = await kit.workspace();
    await seedPeers(kit.services, workspace, { 'web-1': { role: 'web' }, 'db-1': { role: 'db' } });
    const call = { as: agent(['network:read', 'intents:plan'], workspace), workspace };
    const shown = async (dryRun: boolean) => {
      const plan = await kit.call('plan_network_change', { intent: 'web to db only', dry_run: dryRun }, call);
      return plan.diff_markdown.includes('wording');
    };
    expect([await shown(true), asked, await shown(false), asked]).toEqual([false, 0, true, 1]);
  });

  it('is not asked again when what it proposes holds', async () => {
    const { plan, questions } = await ask([RIGHT]);
    expect(await plan).toMatchObject({ verified: true, unmet: [] });
    expect(questions.map(({ counterexample }) => counterexample)).toEqual([undefined]);
  });

  it('is asked again with the connections that show what is wrong, as data', async () => {
    const { plan, questions } = await ask([TOO_WIDE, RIGHT]);
    expect(await plan).toMatchObject({ verified: true });
    expect(questions[1]?.counterexample).toEqual({
      changes: TOO_WIDE.outcome === 'changes' ? TOO_WIDE.changes : [],
      expectations: [WEB_ON_5432, NOBODY_ELSE],
      unmet: [{ ...NOBODY_ELSE, detail: 'guest-1 can still reach db-1 on TCP 5432' }],
      unmetRecords: [],
      broken: [],
      findings: [],
    });
  });

  it('is asked three times at most, and the best of its answers is shown as not verified', async () => {
    const { plan, questions } = await ask([WIDER, TOO_WIDE, WIDER, RIGHT]);
    expect(await plan).toMatchObject({
      verified: false,
      check: 'differs',
      unmet: ['guest-1 can still reach db-1 on TCP 5432'],
    });
    expect(questions).toHaveLength(3);
  });

  it('that has nothing better leaves its first answer standing, unverified', async () => {
    const { plan, questions } = await ask([TOO_WIDE, NO_MORE]);
    expect(await plan).toMatchObject({ verified: false, unmet: ['guest-1 can still reach db-1 on TCP 5432'] });
    expect(questions).toHaveLength(2);
  });

  it('hears why a change cannot be made at all', async () => {
    const impossible = answer(spec('web'), { changes: [{ action: 'delete', resource: 'MeshPolicy', name: 'ghost' }] });
    const { plan, questions } = await ask([impossible, RIGHT]);
    expect(await plan).toMatchObject({ verified: true });
    expect(questions[1]?.counterexample?.impossible).toBe('There is no policy "ghost".');
    await expect((await ask([impossible])).plan).rejects.toMatchObject({
      code: 'intent_not_understood',
      details: {
        reason: 'The change that was found cannot be made: There is no policy "ghost".',
        questions: ['Which one?'],
      },
    });
  });

  it('hears of a rule that does nothing, and its answer is a warning when it stays', async () => {
    const { ingress = [], ...web } = spec('web');
    const ghost = answer({ ...web, ingress: [...ingress, { from: [{ peerSelector: only('ghost') }] }] });
    const { plan, questions } = await ask([ghost, ghost, ghost]);
    expect(questions[1]?.counterexample?.findings).toContainEqual(
      expect.objectContaining({ code: 'RULE_MATCHES_NO_ONE', policy: 'web-to-db' }),
    );
    expect(await plan).toMatchObject({
      verified: true,
      warnings: expect.arrayContaining([
        'web-to-db: its peers match no peer. Correct its from or to, or remove the rule',
      ]),
    });
  });

  it('that states nothing it can be held to is not checked', async () => {
    const { plan } = await ask([answer(spec('web'), { expectations: [] })]);
    expect(await plan).toMatchObject({ verified: false, check: 'not checked' });
  });

  it('is told what was said before, and what it assumed is shown as questions', async () => {
    const history = ['let web reach db', 'only port 5432'];
    const { plan, questions } = await ask([answer(spec('web'), { questions: ['TCP?'] })], { history });
    expect(questions[0]?.history).toEqual(history);
    expect(await plan).toMatchObject({ questions: ['TCP?'] });
  });

  it('whose expectations are its own word is not checked, and is not asked again for that', async () => {
    const { plan, questions } = await ask([{ ...RIGHT, selfAsserted: true } as PlanAnswer]);
    expect(await plan).toMatchObject({
      check: 'not checked',
      unmet: [],
      diff_markdown: expect.stringContaining('only the model says that these changes are what the intent asks for'),
    });
    expect(questions).toHaveLength(1);
  });

  it('is held to what the caller expects instead of its own word, and to nothing more than that', async () => {
    const mine = { ...RIGHT, selfAsserted: true } as PlanAnswer;
    const expectations = [WEB_ON_5432, NOBODY_ELSE];
    const { plan, questions } = await ask([mine], { expectations });
    expect(questions[0]?.expected).toEqual(expectations);
    expect(await plan).toMatchObject({ check: 'not checked', expectations_hold: true });
    const guests = [{ ...WEB_ON_5432, src: 'role=guest' }];
    expect(await (await ask([mine], { expectations: guests })).plan).toMatchObject({
      check: 'not checked',
      expectations_hold: false,
    });
  });

  it('that fails when it is asked again leaves its first answer standing', async () => {
    const planner: Planner = {
      name: 'failing',
      plan: ({ counterexample }) =>
        counterexample ? Promise.reject(new MeshError('unavailable', 'away')) : Promise.resolve(TOO_WIDE),
    };
    await using kit = await buildKit({ planner });
    const workspace = await kit.workspace();
    await seedPeers(kit.services, workspace, {
      'web-1': { role: 'web' },
      'db-1': { role: 'db' },
      guest: { role: 'guest' },
    });
    const as = agent(['network:read', 'intents:plan'], workspace);
    expect(await kit.call('plan_network_change', { intent: 'web to db' }, { as, workspace })).toMatchObject({
      check: 'differs',
    });
  });

  it('that asks a model leaves an event of each request in the audit log, also when nothing comes of it', async () => {
    const call = { model: 'm', mode: 'tool', milliseconds: 7, promptTokens: 3, completionTokens: 2 };
    const planner: Planner = {
      name: 'asking',
      plan({ onCall }) {
        onCall?.({ ...call, outcome: 'answered' });
        onCall?.({ ...call, outcome: 'failed' });
        return Promise.reject(new MeshError('unavailable', 'away'));
      },
    };
    await using kit = await buildKit({ planner });
    const workspace = await kit.workspace();
    const as = agent(['network:read', 'intents:plan'], workspace);
    await expect(kit.call('plan_network_change', { intent: 'x' }, { as, workspace })).rejects.toMatchObject({
      code: 'unavailable',
    });
    const entries = await kit.services.store.audit(workspace, { type: 'event', limit: 10 });
    expect(entries.map(({ event }) => event && [event.type, event.actor, event.result, event.detail])).toEqual([
      ['model_call', as.subject, 'refused', call],
      ['model_call', as.subject, 'ok', call],
    ]);
  });
});
