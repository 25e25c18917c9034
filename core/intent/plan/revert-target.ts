import { MeshError } from '../../base/errors.ts';
import { type AuditEntry, type Change, type Commit, StoreError } from '../../base/ports.ts';
import type { StoredRecord } from '../../base/record.ts';
import { withRenames } from '../../base/renames.ts';
import { formatInstant } from '../../base/time.ts';
import { commitView, networkCommits } from '../../history/blame.ts';
import { getSnapshot } from '../../history/snapshots.ts';
import { lookUpById } from '../../model/find.ts';
import { begun, waits } from '../../model/policy-match.ts';
import { isOfAgent } from '../../model/presets.ts';
import { DEFAULT_NETWORK } from '../../model/resources.ts';
import { findWorkflow } from '../../model/workflow-records.ts';
import type { HistoryServices } from '../../state/services.ts';
import { afterCommit, type NetworkState } from '../../state/state.ts';
import type { RecordName } from '../verify/expectation.ts';
import { inBoth, sameMeaning } from '../verify/record-expectations.ts';
import type { Proposal } from './assessment.ts';
import type { RevertTarget } from './planner.ts';
import { type Reversal, reversal } from './revert.ts';

/** A proposal, but for who asked for it. */
export type Reversion = Omit<Proposal, 'readBy'>;

/** Notes of a kind that a plan carries; the rest are counted. */
const MAX_NOTES = 10;
/** Entries of the audit log looked at to find the newest change of labels. */
const MAX_ENTRIES = 2_000;
const PAGE = 200;

/**
 * Returns the proposal that brings back what a target names, to be checked like any other.
 *
 * @throws MeshError `not_found` where there is no such past, `conflict` naming later changes of the same records.
 */
export async function revertProposal(
  services: HistoryServices,
  workspace: string,
  target: RevertTarget,
): Promise<Reversion> {
  switch (target.to) {
    case 'revision':
      return wholeState(services, workspace, target.revision, `revision ${target.revision}`);
    case 'snapshot': {
      const { spec } = await getSnapshot(services, workspace, target.id);
      return wholeState(services, workspace, spec.revision, `snapshot ${target.id}`);
    }
    case 'before-workflow':
      return beforeWorkflow(services, workspace, target.id);
    case 'before-revision': {
      const whole = await commitAt(services, workspace, target.revision);
      const commit = target.only ? partOf(whole, target.only) : whole;
      await refuseLaterChanges(services, commit);
      const names = target.only?.map(({ kind, name }) => `${kind} ${name}`).join(', ');
      const what = `revision ${commit.revision} (${commit.reason})`;
      return beforeCommit(services, commit, names === undefined ? what : `${names} of ${what}`);
    }
    case 'before-last': {
      const last = await lastChange(services, workspace);
      if (!last) throw new MeshError('not_found', 'There is no change of policies, networks or labels to undo.');
      return beforeCommit(services, last, `revision ${last.revision} (${last.reason})`);
    }
    default:
      return target satisfies never;
  }
}

async function wholeState(
  services: HistoryServices,
  workspace: string,
  revision: number,
  what: string,
): Promise<Reversion> {
  const { states, clock } = services;
  const [now, then] = [await states.current(workspace), await stateAt(services, workspace, revision)];
  const found = reversal(now, then, clock.now());
  const later = await networkCommits(services, workspace, { after: revision, upTo: now.revision, limit: PAGE });
  const taken = found.changes.length === 0 ? [] : later.filter((commit) => isDeliberate(commit)).toReversed();
  const notes = taken.slice(0, MAX_NOTES).map((commit) => {
    const { actor, reason, workflow_id: id } = commitView(commit);
    return `Takes back revision ${commit.revision} of ${actor}${id === null ? '' : ` by workflow ${id}`}: ${reason}`;
  });
  const more = taken.length - notes.length;
  const wording = {
    sentence: `Bring back the network of ${what}.`,
    nothing: `Nothing to bring back: policies, networks and labels are as at ${what} already, as far as they can be.`,
  };
  return proposalOf(found, revision, wording, [
    ...notes,
    ...(more > 0 ? [`Takes back ${more} earlier revisions too.`] : []),
  ]);
}

async function beforeWorkflow(services: HistoryServices, workspace: string, id: string): Promise<Reversion> {
  const workflow = await findWorkflow(services, workspace, id);
  if (workflow.status.state !== 'executed') {
    throw new MeshError('conflict', `The workflow ${id} is ${workflow.status.state}: it changed nothing to undo.`);
  }
  const commit = await commitAt(services, workspace, workflow.revision);
  await refuseLaterChanges(services, commit);
  return beforeCommit(services, commit, `workflow ${id} (${workflow.spec.summary})`);
}

async function beforeCommit(services: HistoryServices, commit: Commit, what: string): Promise<Reversion> {
  const { workspace, revision } = commit;
  const past = await stateAt(services, workspace, revision - 1);
  const now = await services.states.current(workspace);
  const then = withBegun(past, commit, now);
  const names = namesIn(commit, now);
  const { restored, ...found } = reversal(now, then, services.clock.now(), names);
  const asBefore = restored.filter((name) => {
    const [one, other] = inBoth(past, then, name);
    return one === other;
  });
  const nothing =
    names.length === 0
      ? `Nothing to undo: ${what} changed no policy, no network, and no labels or network of a peer.`
      : `Nothing to undo: what ${what} changed is as before it already, or stays.`;
  return proposalOf({ ...found, restored: asBefore }, revision - 1, { sentence: `Undo ${what}.`, nothing }, []);
}

/** The past as if the policies that a commit changed while they waited had begun, where they have since: they are not to go. */
function withBegun(past: NetworkState, { changes }: Commit, { policies }: NetworkState): NetworkState {
  const changed = changes.flatMap(({ type, before, record }): Change[] => {
    const waited = type === 'updated' && waits(record.spec) ? past.waiting.get(record.name) : undefined;
    if (!waited || policies.get(record.name)?.uid !== record.uid) return [];
    return [{ type: 'updated', record: { ...waited, spec: begun(waited.spec) }, ...(before && { before }) }];
  });
  return changed.length === 0 ? past : afterCommit(past, { revision: past.revision, changes: changed });
}

function proposalOf(
  { changes, restored, left }: Reversal,
  revision: number,
  { sentence, nothing }: { readonly sentence: string; readonly nothing: string },
  notes: string[],
): Reversion {
  const stay = left.slice(0, MAX_NOTES).map(({ name, why }) => `${name} stays as it is: ${why}.`);
  const more = left.length > MAX_NOTES ? [`${left.length - MAX_NOTES} more records stay as they are.`] : [];
  return {
    changes,
    expectations: [],
    records: [{ kind: 'restored', revision, records: restored }],
    plannedBy: 'revert',
    sentence: changes.length === 0 ? nothing : sentence,
    notes: [...notes, ...stay, ...more],
  };
}

/** A commit as if it had changed these records alone. */
function partOf(commit: Commit, only: readonly { readonly kind: string; readonly name: string }[]): Commit {
  const isMeant = ({ record }: Change) => only.some(({ kind, name }) => record.kind === kind && record.name === name);
  return { ...commit, changes: withRenames(commit.changes).filter(isMeant) };
}

/** @throws MeshError `conflict` with each record that something else has changed since */
async function refuseLaterChanges(services: HistoryServices, commit: Commit): Promise<void> {
  const { workspace, revision } = commit;
  const [now, then] = [await services.states.current(workspace), await stateAt(services, workspace, revision)];
  const changed = namesIn(commit, now).filter((name) => {
    const [is, was] = inBoth(now, then, name);
    return !sameMeaning(is, was) && !hasBegun(is, was);
  });
  if (changed.length === 0) return;
  const later = await networkCommits(services, workspace, { after: revision, upTo: now.revision, limit: PAGE });
  const conflicts = changed.map(({ resource, name }) => {
    const by = later.findLast((one) =>
      namesIn(one, now).some((other) => other.resource === resource && other.name === name),
    );
    return {
      resource,
      name,
      ...(by && { revision: by.revision, actor: by.actor, workflow_id: by.approval?.workflowId ?? null }),
    };
  });
  const names = conflicts
    .slice(0, MAX_NOTES)
    .map(({ name, revision: at }) => `${name}${at ? ` (revision ${at})` : ''}`);
  throw new MeshError(
    'conflict',
    `Later changes touched the same records: ${names.join(', ')}. Undo those first, or bring back revision ${revision - 1} whole.`,
    { conflicts },
  );
}

/** Tells whether the begin of a policy is all that became of it: whoever takes back what wrote it takes that back too. */
function hasBegun(is: StoredRecord | undefined, was: StoredRecord | undefined): boolean {
  return was?.kind === 'MeshPolicy' && waits(was.spec) && sameMeaning(is, { ...was, spec: begun(was.spec) });
}

/**
 * Returns the policies and networks that a commit changed, and the peers whose labels or network it changed, by their present
 * names.
 */
function namesIn(commit: Pick<Commit, 'changes'>, { peers }: NetworkState): RecordName[] {
  return deliberateChanges(commit).map(({ record: { kind, name, uid } }) => ({
    resource: kind as RecordName['resource'],
    name: (kind === 'MeshPeer' && lookUpById(peers, uid)?.name) || name,
  }));
}

function isDeliberate(commit: Pick<Commit, 'changes'>): boolean {
  return deliberateChanges(commit).length > 0;
}

/** Nothing of what comes with an agent. */
function deliberateChanges({ changes }: Pick<Commit, 'changes'>): readonly Change[] {
  return withRenames(changes).filter(({ type, record, before }) => {
    if (record.kind === 'MeshPeer') return type === 'updated' && !sameMeaning(before, record);
    if (record.kind !== 'MeshPolicy' && record.kind !== 'MeshNetwork') return false;
    if (record.kind === 'MeshNetwork' && record.name === DEFAULT_NETWORK && type === 'created') return false;
    return !isOfAgent(record) && !(type === 'updated' && sameMeaning(before, record));
  });
}

/** The newest commit that people or agents made and that changed what can be brought back. */
async function lastChange(services: HistoryServices, workspace: string): Promise<Commit | undefined> {
  const found: Commit[] = [];
  for (const kind of ['MeshPolicy', 'MeshNetwork', 'MeshPeer'] as const) {
    const newest = found.reduce((revision, commit) => Math.max(revision, commit.revision), 0);
    const commit = await newestOf(services, workspace, kind, newest);
    if (commit) found.push(commit);
  }
  return found.toSorted((a, b) => b.revision - a.revision)[0];
}

async function newestOf(
  services: HistoryServices,
  workspace: string,
  kind: RecordName['resource'],
  above: number,
): Promise<Commit | undefined> {
  let before: number | undefined;
  for (let seen = 0; seen < MAX_ENTRIES; seen += PAGE) {
    const page: readonly AuditEntry[] = await services.store.audit(workspace, {
      kind,
      type: 'commit',
      limit: PAGE,
      ...(before !== undefined && { before }),
    });
    for (const { commit, actor } of page) {
      if (!commit || actor.startsWith('system:')) continue;
      if (commit.revision <= above) return undefined;
      const whole = await commitAt(services, workspace, commit.revision);
      if (isDeliberate(whole)) return whole;
    }
    if (page.length < PAGE) return undefined;
    before = page.at(-1)?.seq;
  }
  return undefined;
}

async function commitAt(services: HistoryServices, workspace: string, revision: number): Promise<Commit> {
  const [commit] = await orGone(services, workspace, () => services.store.commits(workspace, revision - 1, 1));
  if (commit?.revision !== revision) throw await gone(services, workspace, `What revision ${revision} changed`);
  return commit;
}

async function stateAt(services: HistoryServices, workspace: string, revision: number): Promise<NetworkState> {
  return orGone(services, workspace, () => services.states.asOf(workspace, { revision }));
}

async function orGone<T>(services: HistoryServices, workspace: string, read: () => Promise<T>): Promise<T> {
  try {
    return await read();
  } catch (error) {
    if (!(error instanceof StoreError && error.code === 'compacted')) throw error;
    throw await gone(services, workspace, 'That part of the history', error);
  }
}

async function gone({ store }: HistoryServices, workspace: string, what: string, cause?: unknown): Promise<MeshError> {
  const kept = await store.keptFrom(workspace);
  const since = kept && formatInstant(kept.at);
  const detail = `${what} is no longer kept${since === undefined ? '' : `: history is kept since ${since}`}.`;
  return new MeshError('not_found', detail, since === undefined ? {} : { known_since: since }, { cause });
}
