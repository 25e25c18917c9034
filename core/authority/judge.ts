import { MeshError } from '../base/errors.ts';
import { effectOf } from '../effect/effect.ts';
import { lookUpById } from '../model/find.ts';
import { isStateKind, type NetworkState } from '../state/state.ts';
import type { NetworkStates } from '../state/states.ts';
import { onlyEnds } from './ending.ts';
import { type Compared, type Excess, excessOf } from './excess.ts';
import { type Future, futureOf } from './future.ts';
import type { Joins } from './label-sets.ts';
import { newcomerViews } from './newcomers.ts';
import { foreignWrites } from './ownership.ts';
import { stateAfter } from './state-after.ts';
import type { Write } from './writes.ts';

/** What an agent's batch of writes would do beyond what it was given. */
export interface Beyond extends Excess {
  /** Whether the agent was delegated: then nobody lets it. A root agent's is shown to a person. */
  readonly delegated: boolean;
  readonly agent: string;
}

/** What the judgement reads. */
export interface Judged {
  readonly states: Pick<NetworkStates, 'reachability'>;
  readonly state: NetworkState;
  readonly writes: readonly Write[];
  readonly now: number;
}

/**
 * The one judgement of what an agent writes, by whichever operation and face: whose records it touches, and what becomes
 * of who reaches whom. Undefined where all of it is the agent's to do.
 *
 * @param id of the agent; one that is not known reaches nothing and owns nothing
 * @param compared the comparison of the same writes, where it is made already, and its future
 */
export function beyondAuthority(
  id: string,
  { states, state, writes, now, joins = [] }: Judged & { readonly joins?: readonly Joins[] },
  compared?: Compared,
  known?: Future,
): Beyond | undefined {
  const agent = lookUpById(state.agents, id);
  const foreign = foreignWrites(writes, id, agent, state);
  const touches = writes.some(({ kind }) => isStateKind(kind));
  const change = compared ?? (touches ? comparison({ states, state, writes, now }) : undefined);
  const views =
    change && isDear(writes)
      ? {
          future: known ?? futureOf(change, { joins, isPersons: false }, states),
          newcomers: newcomerViews(change, states),
        }
      : {};
  const excess = change && !onlyEnds(writes) ? excessOf(agent, change, views) : undefined;
  if (foreign.length === 0 && !excess) return undefined;
  return {
    agent: agent?.name ?? id,
    delegated: !agent || agent.spec.parentRef !== undefined,
    reasons: [...foreign, ...(excess?.reasons ?? [])],
    rows: excess?.rows ?? [],
  };
}

/** Whether it is about more than presence and the agents themselves: what it opens later is looked at then, which takes long. */
export function isDear(writes: readonly Write[]): boolean {
  const touchesNetwork = writes.some(
    ({ kind }) => kind === 'MeshPeer' || kind === 'MeshPolicy' || kind === 'MeshNetwork',
  );
  return touchesNetwork && !onlyEnds(writes);
}

/** The network before and after a batch of writes, and what differs. */
export function comparison({ states, state, writes, now }: Judged): Compared {
  const after = stateAfter(state, writes);
  const [was, is] = [states.reachability(state, now), states.reachability(after, now)];
  return { before: state, after, was, is, effect: effectOf(was, is), now };
}

/** The refusal of what a delegated agent may not do, whoever would approve it. Who may list peers is told the `rows`. */
export function beyondDelegation({ agent, reasons, rows }: Beyond): MeshError {
  return new MeshError(
    'beyond_delegation',
    `This is beyond what the agent ${agent} was delegated: ${reasons.join('; ')}. Ask a person, or the agent that delegated to it.`,
    { reasons, rows },
  );
}
