import { MeshError } from '../base/errors.ts';
import type { Basis } from '../base/ports.ts';
import { brokenControls, controlTexts } from '../compliance/flips.ts';
import type { Computation } from '../compute/computation.ts';
import { outsidePairs } from '../effect/effect.ts';
import { lookUpById } from '../model/find.ts';
import type { AgentRecord } from '../model/resources.ts';
import { workspaceById } from '../model/workspaces.ts';
import { isLive } from '../state/agent-tree.ts';
import { basisOf } from '../state/basis.ts';
import type { NetworkServices } from '../state/services.ts';
import { controlsOfChange } from './controls.ts';
import { futureOf } from './future.ts';
import { joinGrantsOf, newJoinGrants } from './join-grants.ts';
import { type Beyond, beyondAuthority } from './judge.ts';
import { shownDigest } from './shown-digest.ts';
import { comparison, stateAfter } from './state-after.ts';
import type { Write } from './writes.ts';

type Reads = Pick<NetworkServices, 'store' | 'states' | 'clock'>;

interface Judgement {
  readonly basis: Basis;
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
      basis: basisOf(state),
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
    const change = { before: state, after: stateAfter(state, writes), now: at };
    const flips = controlsOfChange(change, { joins, made: newJoinGrants(writes), settings, states });
    return { basis: basisOf(state), failsControls: brokenControls(flips), reasons: controlTexts(flips).broken };
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
      basis: basisOf(state),
      digest: shownDigest(writes, compared, future),
      opensNothing: effect.openedPairs === 0 && outsidePairs(effect, 'opened') === 0 && future.opened.digest === '',
    };
  },
};
