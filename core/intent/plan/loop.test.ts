import { describe, expect, it } from 'vitest';
import { agent, buildKit } from '../../../test/kits/plane/kit.ts';
import { NO_MORE, type OrdersAnswer, planScripted } from '../../../test/kits/plane/scripted-planner.ts';
import { seedPeers } from '../../../test/kits/records/seed-peers.ts';
import { MeshError } from '../../base/errors.ts';
import { API_VERSION } from '../../base/record.ts';
import type { OrderInput } from '../orders/order.ts';
import type { Expectation } from '../verify/expectation.ts';
import type { PlanAnswer, Planner } from './planner.ts';

const WEB_ON_5432: Expectation = { src: 'role=web', dst: 'role=db', protocol: 'TCP', port: 5432, expect: 'allow' };
const NOBODY_ELSE: Expectation = { ...WEB_ON_5432, src: '*', except: ['role=web'], expect: 'deny' };
const only = (...roles: string[]): OrdersAnswer => ({
  outcome: 'orders',
  orders: [{ do: 'only', from: roles.map((role) => `role=${role}`), to: ['role=db'], ports: ['tcp/5432'] }],
});
const without = (role: string): OrderInput => ({
  do: 'deny',
  from: [`role=${role}`],
  to: ['role=db'],
  ports: ['tcp/5432'],
});
const RIGHT: OrdersAnswer = { ...only('web'), hold: [without('guest')] };
const TOO_WIDE: OrdersAnswer = { ...only('web', 'guest'), hold: [without('guest')] };
const WIDER: OrdersAnswer = { ...only('web', 'guest', 'api'), hold: [without('guest'), without('api')] };
const GUEST = expect.stringMatching(/^What must hold: "deny role=guest to role=db on tcp\/5432": guest-1 to db-1/);

const ask = (answers: readonly PlanAnswer[], input: Record<string, unknown> = {}) =>
  planScripted({ answers, input, others: ['guest', 'api'] });

describe('a planner', () => {
  it('is asked for words about a plan that can be applied, and not about a dry run', async () => {
    let asked = 0;
    const wording = () => Promise.resolve(`wording ${++asked}`);
    const planner: Planner = { name: 'scripted', plan: () => Promise.resolve(RIGHT), wording };
    await using kit = await buildKit({ planner });
    const workspace = await kit.workspace();
    await seedPeers(kit.services, workspace, {
      'web-1': { role: 'web' },
      'db-1': { role: 'db' },
      'guest-1': { role: 'guest' },
    });
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
    const { orders } = TOO_WIDE;
    expect(questions[1]?.counterexample).toEqual({ orders, objections: [GUEST], warnings: [] });
  });

  it('is asked twice at most, and the best of its answers is shown as not verified', async () => {
    const { plan, questions } = await ask([WIDER, TOO_WIDE, RIGHT]);
    expect(await plan).toMatchObject({
      verified: false,
      check: 'differs',
      unmet: [GUEST],
    });
    expect(questions).toHaveLength(2);
  });

  it('that has nothing better leaves its first answer standing, unverified', async () => {
    const { plan, questions } = await ask([TOO_WIDE, NO_MORE]);
    expect(await plan).toMatchObject({
      verified: false,
      unmet: [GUEST],
    });
    expect(questions).toHaveLength(2);
  });

  it('hears of a rule that does nothing, and its answer is a warning when it stays', async () => {
    const from = [{ peerSelector: { matchLabels: { role: 'ghost' } } }];
    const spec = { action: 'ALLOW', peerSelector: { matchLabels: { role: 'db' } }, ingress: [{ from }] };
    const metadata = { name: 'ghosts' };
    const documents = [{ apiVersion: API_VERSION, kind: 'MeshPolicy', metadata, spec }];
    const ghost: OrdersAnswer = { outcome: 'orders', orders: [], documents };
    const { plan, questions } = await ask([ghost, ghost]);
    const warning = expect.stringMatching(/^ghosts: its peers match no peer/);
    expect(questions[1]?.counterexample?.warnings).toContainEqual(warning);
    expect(await plan).toMatchObject({ verified: true, warnings: expect.arrayContaining([warning]) });
  });

  it('is told what was said before, and what it assumed is shown as questions', async () => {
    const history = ['let web reach db', 'only port 5432'];
    const { plan, questions } = await ask([{ ...RIGHT, questions: ['TCP?'] }], { history });
    expect(questions[0]?.history).toEqual(history);
    expect(await plan).toMatchObject({ questions: ['TCP?'] });
  });

  it('whose orders are its own word is not checked, and is not asked again for that', async () => {
    const { plan, questions } = await ask([{ ...RIGHT, selfAsserted: true }]);
    expect(await plan).toMatchObject({
      check: 'not checked',
      unmet: [],
      diff_markdown: expect.stringContaining(
        'Check: **not checked**: The built-in reader cannot confirm that the sentence says the same',
      ),
    });
    expect(questions).toHaveLength(1);
  });

  it('is held to what the caller expects beside its own word', async () => {
    const mine: OrdersAnswer = { ...only('web'), selfAsserted: true };
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
