import { MeshError } from '../errors.ts';
import type { Protocol } from '../network/policy.ts';
import type { NetworkState } from '../network/state.ts';
import { type AsOf, StoreError } from '../ports.ts';
import { type Explanation, explain } from '../reachability/explain.ts';
import type { Services } from '../services.ts';
import { formatInstant } from '../time.ts';
import { type NetworkCommit, networkCommits, viewOfCommit } from './blame.ts';
import { pointOf } from './snapshots.ts';

type Needs = Pick<Services, 'store' | 'states' | 'clock'>;

export interface ConnectivityQuestion {
  /** Name or id of a peer. */
  readonly src: string;
  readonly dst: string;
  readonly protocol?: Protocol | undefined;
  readonly port?: number | undefined;
  readonly at?: string | undefined;
  readonly snapshot_id?: string | undefined;
}

type Online = 'online' | 'offline' | 'unknown';

/** An {@link Explanation} set in time (DESIGN 5.7). */
export interface ConnectivityAnswer {
  readonly verdict: Explanation['verdict'] | 'undetermined';
  readonly presence: { readonly src: Online; readonly dst: Online };
  /** Allowed, and both ends were online. */
  readonly usable: boolean;
  readonly at: string;
  readonly snapshot_id: string | null;
  readonly revision: number | null;
  /** The revision in force then, from when to when; null = still. */
  readonly valid_from: string | null;
  readonly valid_to: string | null;
  readonly steps: Explanation['steps'];
  readonly allowed: Explanation['allowed'];
  readonly blocked_by: Explanation['blocked_by'];
  readonly would_fix: Explanation['would_fix'];
  readonly now: { readonly verdict: Explanation['verdict']; readonly changed_by: NetworkCommit | null } | null;
}

/**
 * Who could reach whom at an instant, a snapshot, or now, and which rule decided it.
 *
 * @throws MeshError `invalid_input` for an instant ahead of the clock, `not_found` for an unknown snapshot.
 */
export async function connectivity(
  services: Needs,
  workspace: string,
  question: ConnectivityQuestion,
): Promise<ConnectivityAnswer> {
  const { states, clock } = services;
  const now = clock.now();
  const current = await states.current(workspace);
  const point = await pointOf(services, workspace, question);
  if (!point) return answerFor(services, current, question, { instant: now, snapshotId: null, now: null });
  if (point.instant > now) {
    const detail = 'at lies in the future: ask about an instant up to now.';
    throw new MeshError('invalid_input', detail, { errors: [{ pointer: '/at', detail }] });
  }
  const snapshotId = point.snapshotId ?? null;
  const state = await stateAt(services, workspace, point.asOf);
  if (!state) return undetermined(point.instant, snapshotId);
  const today = explainIn(services, current, question, now);
  const then = explainIn(services, state, question, point.instant);
  const changedBy =
    today.verdict === then.verdict ? null : await changeOf(services, workspace, question, state.revision, current);
  const context = { instant: point.instant, snapshotId, now: { verdict: today.verdict, changed_by: changedBy } };
  return answerFor(services, state, question, context);
}

async function answerFor(
  services: Needs,
  state: NetworkState,
  question: ConnectivityQuestion,
  { instant, snapshotId, now }: { instant: number; snapshotId: string | null; now: ConnectivityAnswer['now'] },
): Promise<ConnectivityAnswer> {
  const explanation = explainIn(services, state, question, instant);
  const presence = { src: onlineIn(state, question.src), dst: onlineIn(state, question.dst) };
  const span = await services.store.revisionAt(state.workspace, instant);
  return {
    verdict: explanation.verdict,
    presence,
    usable: explanation.verdict !== 'unreachable' && presence.src === 'online' && presence.dst === 'online',
    at: formatInstant(instant),
    snapshot_id: snapshotId,
    revision: state.revision,
    valid_from: span ? formatInstant(span.from) : null,
    valid_to: span?.to === undefined ? null : formatInstant(span.to),
    steps: explanation.steps,
    allowed: explanation.allowed,
    blocked_by: explanation.blocked_by,
    would_fix: explanation.would_fix,
    now,
  };
}

function explainIn(
  { states }: Needs,
  state: NetworkState,
  question: ConnectivityQuestion,
  instant: number,
): Explanation {
  const { src, dst, protocol, port } = question;
  const query = { src: nameIn(state, src), dst: nameIn(state, dst), protocol, port };
  return explain(states.reachability(state, instant), query);
}

/** A name as this state spells it, for an id or a name in any case. */
function nameIn(state: NetworkState, given: string): string {
  if (state.peers.has(given)) return given;
  const folded = given.toLowerCase();
  for (const { name, uid } of state.peers.values()) if (uid === given || name.toLowerCase() === folded) return name;
  return given;
}

function onlineIn(state: NetworkState, given: string): Online {
  const name = nameIn(state, given);
  if (!state.peers.has(name)) return 'unknown';
  return state.presence.get(name)?.spec.online ? 'online' : 'offline';
}

/** Undefined before history begins and where it is no longer kept. */
async function stateAt({ states }: Needs, workspace: string, asOf: AsOf): Promise<NetworkState | undefined> {
  try {
    return await states.asOf(workspace, asOf);
  } catch (error) {
    if (error instanceof MeshError && (error.code === 'not_found' || error.code === 'expired')) return undefined;
    if (error instanceof StoreError && error.code === 'compacted') return undefined;
    throw error;
  }
}

function undetermined(instant: number, snapshotId: string | null): ConnectivityAnswer {
  const step = {
    stage: 'known',
    direction: null,
    result: 'fail',
    reason_code: 'NO_SNAPSHOT',
    subject: '',
    policy: null,
    rule_index: null,
  } as const;
  return {
    verdict: 'undetermined',
    presence: { src: 'unknown', dst: 'unknown' },
    usable: false,
    at: formatInstant(instant),
    snapshot_id: snapshotId,
    revision: null,
    valid_from: null,
    valid_to: null,
    steps: [step],
    allowed: [],
    blocked_by: [],
    would_fix: [],
    now: null,
  };
}

/** Commits searched for the one that changed a verdict; older ones are not blamed. */
const MAX_SEARCHED = 20_000;

/** A commit after `from` across which the verdict became today's: found by halving, so in few compilations. */
async function changeOf(
  services: Needs,
  workspace: string,
  question: ConnectivityQuestion,
  from: number,
  current: NetworkState,
): Promise<NetworkCommit | null> {
  const { states, clock } = services;
  const span = { after: from, upTo: current.revision, limit: MAX_SEARCHED };
  const commits = await networkCommits(services, workspace, span);
  const today = explainIn(services, current, question, clock.now()).verdict;
  let low = 0;
  let high = commits.length - 1;
  while (low < high) {
    const middle = (low + high) >> 1;
    const commit = commits[middle];
    if (!commit) return null;
    const state = await states.asOf(workspace, { revision: commit.revision });
    if (explainIn(services, state, question, commit.at).verdict === today) high = middle;
    else low = middle + 1;
  }
  const found = commits[low];
  return found ? viewOfCommit(found) : null;
}
