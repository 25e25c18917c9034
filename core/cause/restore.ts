import { MeshError } from '../base/errors.ts';
import type { CallContext } from '../base/operation.ts';
import { formatInstant, parseInstant } from '../base/time.ts';
import { nameIn } from '../history/pair/identity.ts';
import type { Proposal } from '../intent/plan/assessment.ts';
import { writerOf } from '../intent/plan/check.ts';
import { MAX_EXPECTATIONS } from '../intent/plan/expectation-input.ts';
import { type ProposedPlan, planProposal } from '../intent/plan/plan.ts';
import { type Reversion, revertProposal } from '../intent/plan/revert-target.ts';
import type { ComputeServices } from '../intent/plan/services.ts';
import type { Expectation } from '../intent/verify/expectation.ts';
import { lookUp } from '../model/find.ts';
import type { PolicyRecord } from '../model/resources.ts';
import { type NetworkState, writtenPolicies } from '../state/state.ts';
import type { SharedFlip } from './connections.ts';

/** Records that a sentence names. */
const MAX_LISTED = 10;

/** A plan that is checked to make connections what they were before a flip, or why there is none. */
export type Restore =
  | {
      readonly plan: ProposedPlan;
      /** Changes that the plan reverts beyond the cause of the flip, and why. */
      readonly beyond?: string;
    }
  | { readonly none: string };

/**
 * The plan that takes a flip back: the records that caused it are as they were, or a policy whose time was over is there
 * again for as long as it was before. All of the revision is taken back only where less does not bring the connection back.
 * A plan is kept only where the computed effect brings it back.
 */
export async function restoreOf(context: CallContext<ComputeServices>, flip: SharedFlip): Promise<Restore> {
  const { services, workspace, caller } = context;
  if (!caller.scopesIn(workspace).has('intents:plan')) {
    return { none: 'A plan needs the scope intents:plan, which you do not hold here.' };
  }
  const by = byHand(flip);
  if (by !== undefined) return { none: by };
  const state = await services.states.current(workspace);
  const expectations = expectedOf(flip, state);
  if (typeof expectations === 'string') return { none: expectations };
  try {
    const narrow = await narrowProposal(context, flip);
    if (narrow) {
      const restored = await checkedPlan(context, { ...narrow, expectations });
      if ('plan' in restored) return restored;
    }
    const whole = await proposalFor(context, flip, state);
    if (typeof whole === 'string') return { none: whole };
    const beyond = narrow && beyondText(flip, narrow, whole);
    const notes = [...(whole.notes ?? []), ...(beyond === undefined ? [] : [beyond])];
    const restored = await checkedPlan(context, { ...whole, expectations, notes });
    return 'plan' in restored && beyond !== undefined ? { ...restored, beyond } : restored;
  } catch (error) {
    if (!(error instanceof MeshError) || error.code === 'unavailable') throw error;
    return { none: error.message };
  }
}

async function checkedPlan(context: CallContext<ComputeServices>, proposal: Reversion): Promise<Restore> {
  const intent = proposal.sentence;
  const held: Proposal = { ...proposal, readBy: writerOf(context) };
  const tried = await planProposal(context, { intent, dryRun: true }, held);
  const { objections, unmet } = tried.assessment;
  // The approver decides about anything else it opens; only the return of the connection is required here.
  if (unmet.length > 0) {
    const what = proposal.expectations.some(({ expect }) => expect === 'allow')
      ? 'bring the connection back'
      : 'close the connection again';
    return { none: `Taking it back would not ${what}: ${unmet.map(({ detail }) => detail).join('; ')}.` };
  }
  if (objections.length > 0) return { none: `A plan that takes it back would be refused: ${objections.join(' ')}` };
  return { plan: await planProposal(context, { intent, dryRun: false }, held, tried.assessment) };
}

/** Takes back the records alone that made the connection another one; undefined where they cannot be singled out. */
async function narrowProposal(
  { services, workspace }: CallContext<ComputeServices>,
  { after, causes }: SharedFlip,
): Promise<Reversion | undefined> {
  if (after.changes.length === 0 || causes.length === 0) return undefined;
  const target = { to: 'before-revision', revision: after.revision, only: causes } as const;
  const found = await revertProposal(services, workspace, target);
  return found.changes.length > 0 ? found : undefined;
}

/** Undefined where the revision has nothing else to take back. */
function beyondText({ causes, after }: SharedFlip, narrow: Reversion, whole: Reversion): string | undefined {
  const keyOf = ({ resource, name }: Proposal['changes'][number]) => `${resource} ${name}`;
  const named = new Set(narrow.changes.map(keyOf));
  const others = whole.changes.map(keyOf).filter((key) => !named.has(key));
  if (others.length === 0) return undefined;
  const shown = others.slice(0, MAX_LISTED).join(', ');
  const more = others.length > MAX_LISTED ? ` and ${others.length - MAX_LISTED} more` : '';
  const alone = causes.map(({ name }) => name).join(', ');
  return `Taking back ${alone} alone does not bring it back, so the plan takes back all of revision ${after.revision}: also ${shown}${more}.`;
}

/** Returns the step that no plan can take: it needs a device, or a person who approves it. */
function byHand({ causes, after, pairs }: SharedFlip): string | undefined {
  if (pairs.some(({ src, dst }) => src.ranges ?? dst.ranges))
    return 'No plan is offered for addresses outside: plan a policy with an ipBlock, or revert the revision.';
  for (const { cause, kind, name } of causes) {
    if (cause === 'presence') return `No plan brings a device back: start the node on ${name} (mesh up).`;
    if (cause === 'approval') return `Peers are let in one by one: approve ${name} again.`;
    if (cause === 'peer') return `No plan makes a peer: ${name} has to join again.`;
    if (cause === 'address') return `No plan changes addresses: ${name} keeps the one it has.`;
    if (cause === 'expiry' && kind !== 'MeshPolicy')
      return `The time of ${kind} ${name} is not in a plan: renew it, or let it join again.`;
  }
  return causes.length === 0 && after.changes.length === 0 ? 'Time alone changed it.' : undefined;
}

/** The connections as they were before, said of the peers as they are called now. */
function expectedOf({ before, pairs }: SharedFlip, state: NetworkState): Expectation[] | string {
  const { verdict } = before.reading;
  if (pairs.length > MAX_EXPECTATIONS)
    return `A plan is offered for at most ${MAX_EXPECTATIONS} connections: ask about fewer peers.`;
  const expected: Expectation[] = [];
  for (const { src, dst, protocol, port } of pairs) {
    const [from, to] = [nameIn(state, src), nameIn(state, dst)];
    const gone = from === undefined ? src.name : to === undefined ? dst.name : undefined;
    if (from === undefined || to === undefined) return `${gone} is gone: it has to join again.`;
    const scope = { ...(protocol && { protocol }), ...(port !== undefined && { port }) };
    expected.push({ src: from, dst: to, ...scope, expect: verdict === 'reachable' ? 'allow' : 'deny' });
  }
  if (verdict === 'partial') return 'It was allowed in part before: ask about one port to be offered a plan.';
  return expected;
}

async function proposalFor(
  { services, workspace }: CallContext<ComputeServices>,
  { after, causes }: SharedFlip,
  state: NetworkState,
): Promise<Reversion | string> {
  if (after.changes.length > 0) {
    const found = await revertProposal(services, workspace, { to: 'before-revision', revision: after.revision });
    return found.changes.length > 0 ? found : ['There is nothing to take back.', ...(found.notes ?? [])].join(' ');
  }
  const ended = causes.map(({ name }) => after.state.policies.get(name));
  const changes = ended.flatMap((policy) => (policy ? [renewed(policy, state, services.clock.now())] : []));
  const names = causes.map(({ name }) => name).join(', ');
  const sentence = `Bring back ${names} for as long as before.`;
  return { changes, expectations: [], records: [], plannedBy: 'revert', sentence };
}

function renewed(policy: PolicyRecord, state: NetworkState, now: number): Proposal['changes'][number] {
  const { name, labels, annotations, spec, createdAt } = policy;
  const lasted = parseInstant(spec.expiresAt ?? '') - createdAt;
  return {
    action: lookUp(writtenPolicies(state), name) ? 'update' : 'create',
    resource: 'MeshPolicy',
    name,
    labels,
    annotations,
    spec: { ...spec, expiresAt: formatInstant(now + lasted) },
  };
}
