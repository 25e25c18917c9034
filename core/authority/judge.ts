import { MeshError } from '../base/errors.ts';
import type { ReadSet } from '../base/ports.ts';
import { brokenControls, controlTexts } from '../compliance/flips.ts';
import type { Computation } from '../compute/computation.ts';
import { outsidePairs } from '../effect/effect.ts';
import { lookUpById } from '../model/find.ts';
import { beginOf, waits } from '../model/policy-match.ts';
import type { AgentRecord } from '../model/resources.ts';
import { workspaceById } from '../model/workspaces.ts';
import { isLive } from '../state/agent-tree.ts';
import { changedBegins } from '../state/begins.ts';
import { readSetOf } from '../state/read-set.ts';
import type { NetworkServices } from '../state/services.ts';
import { isStateKind } from '../state/state.ts';
import { onlyEnds } from './agent-ends.ts';
import { controlsOfChange } from './controls.ts';
import { type Excess, excessOf } from './excess.ts';
import { type Future, futureOf } from './future.ts';
import { joinGrantsOf, newJoinGrants } from './join-grants.ts';
import type { JoinGrant } from './label-sets.ts';
import { newcomerViews } from './newcomers.ts';
import { foreignWrites } from './ownership.ts';
import { shownDigest } from './shown-digest.ts';
import { type Comparison, comparedAt, comparison, type JudgementInput } from './state-after.ts';
import type { Write } from './writes.ts';

/** The excess of an agent's batch of writes over its authority. */
export interface Beyond extends Excess {
  /** True for a delegated agent, whom nobody may let; a person decides about the writes of a root agent. */
  readonly delegated: boolean;
  readonly agent: string;
}

/**
 * Judges the writes of an agent, by whichever operation and face: the owners of the records, and the connections that
 * open and close. Undefined where all of it is the agent's to do.
 *
 * @param id of the agent; one that is not known reaches nothing and owns nothing
 * @param compared the comparison of the same writes, where it is made already, and its future
 */
export function beyondAuthority(
  id: string,
  { states, state, writes, now, joins = [] }: JudgementInput & { readonly joins?: readonly JoinGrant[] },
  compared?: Comparison,
  known?: Future,
): Beyond | undefined {
  const agent = lookUpById(state.agents, id);
  const foreign = foreignWrites(writes, id, agent, state);
  const touches = writes.some(({ kind }) => isStateKind(kind));
  const change = compared ?? (touches ? comparison({ states, state, writes, now }) : undefined);
  const views =
    change && touchesNetwork(writes)
      ? {
          future: known ?? futureOf(change, { joins, isPersons: false }, states),
          newcomers: newcomerViews(change, states),
        }
      : {};
  const excess =
    change && !onlyEnds(writes) ? (excessOf(agent, change, views) ?? excessLater(agent, change, states)) : undefined;
  const isLate = writes.some(
    ({ after }) => agent && after?.kind === 'MeshPolicy' && waits(after.spec) && !isLive(agent, beginOf(after.spec)),
  );
  const late = isLate ? [`it ends at ${agent?.spec.expiresAt}, before this begins`] : [];
  if (foreign.length + late.length === 0 && !excess) return undefined;
  return {
    agent: agent?.name ?? id,
    delegated: !agent || agent.spec.parentRef !== undefined,
    reasons: [...foreign, ...late, ...(excess?.reasons ?? [])],
    rows: excess?.rows ?? [],
  };
}

/** Judges policies that a change has begin after its other parts as they are then: it must not reach further by waiting. */
function excessLater(
  agent: AgentRecord | undefined,
  { before, after, now }: Comparison,
  states: JudgementInput['states'],
): Excess | undefined {
  for (const at of changedBegins(before, after).filter((begin) => begin > now)) {
    const later = comparedAt(before, after, at, states);
    const excess = excessOf(agent, later, { newcomers: newcomerViews(later, states) });
    if (excess) return { ...excess, reasons: excess.reasons.map((reason) => `once policies have begun, ${reason}`) };
  }
  return undefined;
}

/** Tells whether writes touch the network, rather than presence or agents alone: their effects later are compared then, which is expensive. */
export function touchesNetwork(writes: readonly Write[]): boolean {
  const isOfNetwork = writes.some(({ kind }) => kind === 'MeshPeer' || kind === 'MeshPolicy' || kind === 'MeshNetwork');
  return isOfNetwork && !onlyEnds(writes);
}

/** Returns the refusal of writes that no approval lets a delegated agent make. Callers who may list peers see the `rows`. */
export function beyondDelegation({ agent, reasons, rows }: Beyond): MeshError {
  return new MeshError(
    'beyond_delegation',
    `This is beyond what the agent ${agent} was delegated: ${reasons.join('; ')}. Ask a person, or the agent that delegated to it.`,
    { reasons, rows },
  );
}

type Reads = Pick<NetworkServices, 'store' | 'states' | 'clock'>;

interface Judgement {
  readonly readSet: ReadSet;
}

/** Judges an agent's writes against its authority; `beyond` is undefined where all are within. */
export const judgeWrites: Computation<
  Reads,
  { readonly agent: string; readonly writes: readonly Write[] },
  Judgement & { readonly beyond?: Beyond | undefined }
> = {
  name: 'judge_writes',
  async run({ store, states, clock }, workspace, { agent, writes }) {
    const state = await states.current(workspace);
    requireNotEnded(agent, lookUpById(state.agents, agent), clock.now());
    // Read after the state: a token that is newer counts, and makes the basis a changed one.
    const joins = await joinGrantsOf({ store, clock }, workspace);
    return {
      readSet: readSetOf(state),
      beyond: beyondAuthority(agent, { states, state, writes, now: clock.now(), joins }),
    };
  },
};

/** The agent may have ended since the call was let in, and another may have its name. */
function requireNotEnded(id: string, agent: AgentRecord | undefined, now: number): void {
  if (agent && isLive(agent, now)) return;
  throw new MeshError('forbidden', `The agent ${agent?.name ?? id} has ended: nothing of it is written any more.`);
}

/** The controls of frameworks that fail after writes, now or later, and did not before, and why. */
export const judgeControls: Computation<
  Reads,
  { readonly writes: readonly Write[] },
  Judgement & { readonly failsControls: readonly string[]; readonly reasons: readonly string[] }
> = {
  name: 'judge_controls',
  async run({ store, states, clock }, workspace, { writes }) {
    const { settings } = (await workspaceById({ store }, workspace)).spec;
    const [state, at] = [await states.current(workspace), clock.now()];
    const joins = await joinGrantsOf({ store, clock }, workspace);
    const flips = controlsOfChange(comparison({ states, state, writes, now: at }), {
      joins,
      made: newJoinGrants(writes),
      settings,
      states,
    });
    return { readSet: readSetOf(state), failsControls: brokenControls(flips), reasons: controlTexts(flips).broken };
  },
};

/** Computes the digest of the effect that a person sees of writes. */
export const judgeShown: Computation<
  Reads,
  { readonly writes: readonly Write[] },
  Judgement & { readonly digest: string; readonly opensNothing: boolean }
> = {
  name: 'judge_shown',
  async run({ store, states, clock }, workspace, { writes }) {
    const state = await states.current(workspace);
    const compared = comparison({ states, state, writes, now: clock.now() });
    const joins = await joinGrantsOf({ store, clock }, workspace);
    const future = futureOf(compared, { joins, isPersons: true }, states);
    const { effect } = compared;
    return {
      readSet: readSetOf(state),
      digest: shownDigest(writes, compared, future),
      opensNothing: effect.openedPairs === 0 && outsidePairs(effect, 'opened') === 0 && future.opened.digest === '',
    };
  },
};
