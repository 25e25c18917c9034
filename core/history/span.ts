import { type Commit, StoreError } from '../base/ports.ts';
import type { StoredRecord } from '../base/record.ts';
import { parseInstant } from '../base/time.ts';
import type { NetworkServices } from '../state/services.ts';
import type { NetworkState } from '../state/state.ts';
import { isStateKind } from '../state/state.ts';

/** How long a network stayed as it was, ms: up to but without `to`; undefined = still, or not known. */
export interface Span {
  readonly from: number | undefined;
  readonly to: number | undefined;
}

const PAGE = 200;

/**
 * The time around an instant in which a state of the network held. Revisions that change nothing of it, such as those of
 * snapshots and workflows, do not end it; the expiry of one of its records does, once it has come.
 */
export async function spanOf(
  services: Pick<NetworkServices, 'store' | 'clock'>,
  state: NetworkState,
  instant: number,
): Promise<Span> {
  const [last, next] = await Promise.all([lastChange(services, state), nextChange(services, state)]);
  const ends = endsOf(state);
  const begun = ends.filter((at) => at <= instant);
  const now = services.clock.now();
  const over = ends.filter((at) => at > instant && at <= now);
  return {
    from: last === undefined ? undefined : begun.reduce((a, b) => Math.max(a, b), last),
    to: over.reduce<number | undefined>((a, b) => Math.min(a ?? b, b), next),
  };
}

/** Every record says which revision wrote it; only a deletion can be newer than all of them. */
async function lastChange({ store }: Pick<NetworkServices, 'store'>, state: NetworkState): Promise<number | undefined> {
  let newest = 1;
  for (const { revision } of recordsOf(state)) if (revision > newest) newest = revision;
  let found: number | undefined;
  for (let after = newest - 1; after < state.revision; ) {
    const page = await commitsAfter(store, state.workspace, after);
    for (const commit of page) if (commit.revision <= state.revision && changes(commit)) found = commit.at;
    const last = page.at(-1)?.revision;
    if (last === undefined || page.length < PAGE) break;
    after = last;
  }
  return found;
}

async function nextChange({ store }: Pick<NetworkServices, 'store'>, state: NetworkState): Promise<number | undefined> {
  for (let after = state.revision; ; ) {
    const page = await commitsAfter(store, state.workspace, after);
    const next = page.find(changes);
    if (next) return next.at;
    const last = page.at(-1)?.revision;
    if (last === undefined || page.length < PAGE) return undefined;
    after = last;
  }
}

/** None where they are no longer kept. */
async function commitsAfter(
  store: NetworkServices['store'],
  workspace: string,
  after: number,
): Promise<readonly Commit[]> {
  try {
    return await store.commits(workspace, after, PAGE);
  } catch (error) {
    if (error instanceof StoreError && error.code === 'compacted') return [];
    throw error;
  }
}

function changes(commit: Commit): boolean {
  return commit.changes.some(({ record }) => isStateKind(record.kind));
}

function recordsOf({ peers, policies, networks, agents, presence }: NetworkState): StoredRecord[] {
  return [peers, policies, networks, agents, presence].flatMap((records) => [...records.values()]);
}

function endsOf({ peers, policies }: NetworkState): number[] {
  return [peers, policies].flatMap((records) =>
    [...records.values()].flatMap(({ spec }) => (spec.expiresAt === undefined ? [] : [parseInstant(spec.expiresAt)])),
  );
}
