import { MeshError } from '../base/errors.ts';
import { lookUpById } from '../model/find.ts';
import { isStateKind } from '../state/state.ts';
import { onlyEnds } from './agent-ends.ts';
import { type Excess, excessOf } from './excess.ts';
import { type Future, futureOf } from './future.ts';
import type { JoinGrant } from './label-sets.ts';
import { newcomerViews } from './newcomers.ts';
import { foreignWrites } from './ownership.ts';
import { type Comparison, comparison, type JudgementInput } from './state-after.ts';
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
  const excess = change && !onlyEnds(writes) ? excessOf(agent, change, views) : undefined;
  if (foreign.length === 0 && !excess) return undefined;
  return {
    agent: agent?.name ?? id,
    delegated: !agent || agent.spec.parentRef !== undefined,
    reasons: [...foreign, ...(excess?.reasons ?? [])],
    rows: excess?.rows ?? [],
  };
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
