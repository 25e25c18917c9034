import { commitContext } from '../commit-context.ts';
import { MeshError } from '../errors.ts';
import { newId } from '../ids.ts';
import type { NetworkChange } from '../network/changes.ts';
import type { CallContext } from '../operation.ts';
import type { Services } from '../services.ts';
import { type Assessment, assess, type Proposal } from './assess.ts';
import { planByGrammar } from './builtin/builtin.ts';
import { type PlanSpec, planDraft } from './plan-record.ts';

export interface PlanRequest {
  readonly intent: string;
  readonly dryRun: boolean;
  /** Filled by the caller: then no planner is asked. */
  readonly changes: readonly NetworkChange[] | undefined;
}

export interface ProposedPlan {
  readonly id: string;
  readonly spec: PlanSpec;
  readonly assessment: Assessment;
}

/**
 * Turns an intent into a plan whose effect has been computed. Nothing is executed; a dry run is not even stored.
 *
 * @throws MeshError `intent_not_understood` with questions, or `invalid_input` for changes that cannot be made.
 */
export async function planNetworkChange(context: CallContext<Services>, request: PlanRequest): Promise<ProposedPlan> {
  const { services, workspace, caller } = context;
  if (!caller) throw new MeshError('unauthenticated', 'Only a known caller may plan.');
  const proposal = request.changes
    ? await given(context, request, request.changes)
    : await asked(context, request.intent);
  const assessment = await assess(services, workspace, proposal, caller.kind === 'agent' ? caller.id : undefined);
  const id = newId('plan');
  const spec: PlanSpec = {
    ...proposal,
    intent: request.intent,
    digest: assessment.digest,
    baseRevision: assessment.state.revision,
    requestedBy: caller.subject,
    requesterId: caller.id,
    expiresAt: services.clock.now() + services.settings.planTtlMs,
  };
  if (!request.dryRun) {
    const reason = `plan: ${proposal.summary}`;
    await services.store.commit(
      workspace,
      [{ op: 'create', record: planDraft(id, spec) }],
      commitContext(context, reason),
    );
  }
  return { id, spec, assessment };
}

async function asked({ services, workspace, signal }: CallContext<Services>, intent: string): Promise<Proposal> {
  const state = await services.states.current(workspace);
  const answer = await services.planner.plan({ intent, state, now: services.clock.now(), signal });
  if (answer.outcome === 'changes') return answer;
  const { reason, questions } = answer;
  throw new MeshError('intent_not_understood', [reason, ...questions].join(' '), { reason, questions });
}

/** Changes that the caller wrote are held to the intent where the grammar understands it. */
async function given(
  { services, workspace }: CallContext<Services>,
  { intent }: PlanRequest,
  changes: readonly NetworkChange[],
): Promise<Proposal> {
  const state = await services.states.current(workspace);
  const understood = planByGrammar({ intent, state, now: services.clock.now() });
  const listed = changes.map(({ action, resource, name }) => `${action} ${resource} ${name}`);
  const more = listed.length > 3 ? ` and ${listed.length - 3} more` : '';
  return {
    changes,
    expectations: understood.outcome === 'changes' ? understood.expectations : [],
    summary: `${listed.slice(0, 3).join(', ')}${more}.`,
  };
}
