import { brokenAssertions } from '../assertions/guard.ts';
import { MeshError } from '../base/errors.ts';
import { newId } from '../base/ids.ts';
import type { Op } from '../base/ports.ts';
import { draftOf } from '../base/record.ts';
import { serialized } from '../base/serialize.ts';
import { hasEnded } from '../base/time.ts';
import { commitAt } from '../history/commits-between.ts';
import { lookUpById } from '../model/find.ts';
import { beginOf, begun } from '../model/policy-match.ts';
import type { PolicyRecord } from '../model/resources.ts';
import { WRITTEN_BY } from '../model/written-by.ts';
import { isLive } from '../state/agent-tree.ts';
import { beginsOf } from '../state/begins.ts';
import { readSetOf } from '../state/read-set.ts';
import type { NetworkServices } from '../state/services.ts';
import { afterCommit, type NetworkState } from '../state/state.ts';
import { joinGrantsOf } from './join-grants.ts';
import { beyondAuthority } from './judge.ts';
import { stateAfter } from './state-after.ts';
import { type Write, writesOf } from './writes.ts';

type Services = Pick<NetworkServices, 'store' | 'states' | 'clock'>;

/** How long the policies of one workspace may begin before those of others have their turn, ms. */
const TURN_MS = 1_000;
const MAX_NAMED = 5;

/**
 * Lets the policies of a workspace begin whose time has come. What may not be any more is deleted instead, and the audit log
 * says why. Policies that one commit wrote begin together or not at all, and commits in their order, since each was judged
 * with those before it.
 *
 * @returns when the next ones begin, ms
 */
export async function beginPolicies(services: Services, workspace: string): Promise<number | undefined> {
  const { store, states, clock } = services;
  const isDue = ({ spec }: PolicyRecord) => beginOf(spec) <= clock.now();
  const startedAt = clock.now();
  /** Revisions of those for which an assertion would fail until others have begun. */
  const postponed = new Set<number>();
  const beginNext = async () => {
    const state = await states.current(workspace);
    const due = [...state.waiting.values()].filter(isDue);
    const [first] = due.sort(
      (a, b) =>
        Number(postponed.has(a.revision)) - Number(postponed.has(b.revision)) ||
        beginOf(a.spec) - beginOf(b.spec) ||
        a.revision - b.revision,
    );
    if (!first) return 'none due';
    const together = due.filter(({ revision }) => revision === first.revision);
    const mayPostpone = due.length > together.length && !postponed.has(first.revision);
    const outcome = await beginTogether(services, state, { together, due, mayPostpone });
    if (outcome === 'postponed') postponed.add(first.revision);
    return outcome;
  };
  for (;;) {
    const outcome = await serialized(store, workspace, beginNext, clock);
    // Only once something was written, so that each turn brings the work nearer to its end.
    const isOver = outcome === 'written' && clock.now() - startedAt >= TURN_MS;
    if (outcome === 'none due' || isOver) return beginsOf(await states.current(workspace))[0];
  }
}

interface Due {
  /** Policies of one commit. */
  readonly together: readonly PolicyRecord[];
  /** All whose time has come. */
  readonly due: readonly PolicyRecord[];
  /** True where another one that is due may let them begin. */
  readonly mayPostpone: boolean;
}

async function beginTogether(
  services: Services,
  state: NetworkState,
  { together: policies, due, mayPostpone }: Due,
): Promise<'postponed' | 'written'> {
  const { store } = services;
  const { workspace } = state;
  const commit = async (ops: readonly Op[], reason: string) => {
    const written = await commitAt(services, workspace, policies[0]?.revision ?? 0);
    await store.commit(workspace, ops, {
      actor: 'system:begin',
      reason,
      requestId: newId('r'),
      readSet: readSetOf(state),
      // The approval of a policy covers its begin.
      ...(written?.approval && { approval: written.approval }),
    });
  };
  const begins = policies.map(
    (policy): Op => ({
      op: 'update',
      record: { ...draftOf(policy), spec: begun(policy.spec) },
      revision: policy.revision,
    }),
  );
  const ends = policies.map(({ kind, name, revision }): Op => ({ op: 'delete', key: { kind, name }, revision }));
  try {
    // Others that are due begin after these, or never: these are judged without them.
    const changes = due.map((record) => ({ type: 'deleted', record }) as const);
    const before = afterCommit(state, { revision: state.revision, changes });
    const writes = writesOf(begins, ({ name }) => state.waiting.get(name));
    const refusal = await refusalOf(services, before, policies, writes);
    const broken = refusal === undefined ? await brokenBy(services, before, writes) : undefined;
    if (broken !== undefined && mayPostpone) return 'postponed';
    const why = refusal ?? broken;
    if (why === undefined) await commit(begins, `${namesText(policies)} ${policies.length === 1 ? 'begins' : 'begin'}`);
    else await commit(ends, deletedText(policies, why));
  } catch (error) {
    if (!(error instanceof MeshError && error.code === 'payload_too_large')) throw error;
    await commit(ends, deletedText(policies, error.message));
  }
  return 'written';
}

function deletedText(policies: readonly PolicyRecord[], why: string): string {
  const [were, are] = policies.length === 1 ? ['was', 'is'] : ['were', 'are'];
  return `${namesText(policies)} ${were} to begin and ${are} deleted instead: ${why}`;
}

function namesText(policies: readonly PolicyRecord[]): string {
  const names = policies.slice(0, MAX_NAMED).map(({ name }) => name);
  const more = policies.length > MAX_NAMED ? ` and ${policies.length - MAX_NAMED} more` : '';
  return `the ${policies.length === 1 ? 'policy' : 'policies'} ${names.join(', ')}${more}`;
}

/** Returns why policies may not begin, whatever others do: it was judged when they were written, and the network has changed since. */
async function refusalOf(
  services: Services,
  before: NetworkState,
  policies: readonly PolicyRecord[],
  writes: readonly Write[],
): Promise<string | undefined> {
  const { workspace, agents } = before;
  const now = services.clock.now();
  if (policies.some(({ spec }) => hasEnded(spec, now))) return 'its time is over';
  const authors = new Set(policies.flatMap(({ annotations }) => annotations[WRITTEN_BY] ?? []));
  const joins = authors.size === 0 ? [] : await joinGrantsOf(services, workspace);
  for (const id of authors) {
    const agent = lookUpById(agents, id);
    if (!agent || !isLive(agent, now)) return 'the agent that wrote it has ended';
    const beyond = beyondAuthority(id, { states: services.states, state: before, writes, now, joins });
    if (beyond) return `it is beyond the agent ${beyond.agent}: ${beyond.reasons.join('; ')}`;
  }
  return undefined;
}

async function brokenBy(
  services: Services,
  before: NetworkState,
  writes: readonly Write[],
): Promise<string | undefined> {
  const { broken } = await brokenAssertions(services, before, stateAfter(before, writes));
  const [first] = broken;
  return first && `the assertion ${first.name} would fail: ${first.detail}`;
}
