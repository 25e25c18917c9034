import { z } from 'zod';
import { comparison } from '../../core/authority/state-after.ts';
import { writesIn } from '../../core/authority/writes.ts';
import { commitContext } from '../../core/base/commit-context.ts';
import { DELETE } from '../../core/base/operation.ts';
import type { Op } from '../../core/base/ports.ts';
import { effectView } from '../../core/effect/effect-view.ts';
import { findAgent } from '../../core/identity/agents.ts';
import { endAgents, endOps, nextFamilies } from '../../core/identity/end-agents.ts';
import { removalCascade } from '../../core/identity/removal-cascade.ts';
import { addressedFields } from '../../core/state/expecting.ts';
import { defineOperation } from '../define.ts';
import { effectSchema } from '../intents/plan-view.ts';

const names = z.array(z.string());

export const revokeAgent = defineOperation({
  name: 'revoke_agent',
  title: 'Revoke an agent',
  description:
    'Ends an agent and everything it delegated and issued at once: identities, peers, policies, tokens, plans and what waits for approval. A peer that a person adopted stays. Where the workspace has requireApproval, a policy that closes something for others stays with what it closes alone. With dryRun it only says what would end, and what that opens.',
  input: z.strictObject({
    ...addressedFields,
    dryRun: z.boolean().default(false).describe('say what would end, end nothing'),
  }),
  output: z.strictObject({
    revoked: names.describe('Names of the agents that ended, or would'),
    peers: names.describe('Names of the peers that go'),
    policies: names.describe('Names of the policies that go'),
    kept: names.describe('Names of the policies that stay and only close; a person may delete them'),
    tokens: names.describe('Names of the join tokens that go'),
    workflows: names.describe('Ids of the workflows that wait and are not carried out'),
    plans: names.describe('Ids of the plans that go'),
    dryRun: z.boolean().describe('Whether nothing has ended'),
    effect: effectSchema.optional().describe('Of a dry run: what that would open and close between peers that stay'),
  }),
  access: 'agents:write',
  workspace: 'scoped',
  edition: 'community',
  effects: DELETE,
  addresses: 'AgentIdentity',
  problems: ['not_found', 'conflict'],
  http: { method: 'delete', path: '/api/v1/agents/:id' },
  async run({ id, dryRun }, context) {
    const { services, workspace } = context;
    const agent = await findAgent(context, id);
    const state = await services.states.current(workspace);
    const ending = nextFamilies(state, [agent]);
    const going = await removalCascade(services, state, ending);
    // A dry run tells what only who may end the agent is told.
    if (dryRun) await services.store.trial?.(workspace, endOps(ending, 'Revoked', going), context.requestId);
    const revoked = dryRun
      ? ending.map(({ name }) => name)
      : await endAgents(
          services,
          workspace,
          () => [agent],
          'Revoked',
          commitContext(context, `revoke agent ${agent.name}`),
        );
    return {
      revoked,
      peers: going.peers.map(({ name }) => name),
      policies: going.policies.map(({ name }) => name),
      kept: going.kept.map(({ before }) => before.name),
      tokens: going.tokens.filter(({ spec }) => spec.kind === 'join').map(({ spec }) => spec.name),
      workflows: going.workflows.map(({ name }) => name),
      plans: going.plans.map(({ name }) => name),
      dryRun,
      ...(dryRun && { effect: await effectOfEnding() }),
    };

    async function effectOfEnding() {
      const { states, clock, store } = services;
      const gone = going.peers.map(({ kind, name }): Op => ({ op: 'delete', key: { kind, name } }));
      const writes = await writesIn(store, workspace, [...endOps(ending, 'Revoked', going), ...gone]);
      return effectView(comparison({ states, state, writes, now: clock.now() }).effect);
    }
  },
});
