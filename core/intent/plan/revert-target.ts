import { MeshError } from '../../base/errors.ts';
import type { Change, Commit } from '../../base/ports.ts';
import type { StoredRecord } from '../../base/record.ts';
import { withRenames } from '../../base/renames.ts';
import { commitView, networkCommits } from '../../history/blame.ts';
import { getSnapshot } from '../../history/snapshots.ts';
import { lookUpById } from '../../model/find.ts';
import { begun, waits } from '../../model/policy-match.ts';
import { findWorkflow } from '../../model/workflow-records.ts';
import type { HistoryServices } from '../../state/services.ts';
import { afterCommit, type NetworkState } from '../../state/state.ts';
import type { RecordName } from '../verify/expectation.ts';
import { inBoth, sameMeaning } from '../verify/record-expectations.ts';
import type { Proposal } from './assessment.ts';
import { commitAt, stateAt } from './kept-past.ts';
import { changeSince, deliberateChanges, isDeliberate, lastChange } from './last-change.ts';
import type { RevertTarget } from './planner.ts';
import { type Reversal, reversal } from './revert.ts';

/** A proposal, but for who asked for it. */
export type Reversion = Omit<Proposal, 'readBy'>;

/** Notes of a kind that a plan carries; the rest are counted. */
const MAX_NOTES = 10;
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
      const what = `revision ${last.commit.revision} (${last.commit.reason})`;
      const newer = await changeSince(services, workspace, last);
      return newer === undefined ? beforeCommit(services, last.commit, what) : notTheLast(last.commit, what, newer);
    }
    default:
      return target satisfies never;
  }
}

function notTheLast({ revision }: Commit, what: string, newer: string): Reversion {
  const nothing = `Nothing to undo: the newest change, ${newer}, cannot be undone. The newest that can is ${what}: mesh undo ${revision}.`;
  return proposalOf({ changes: [], restored: [], left: [] }, revision, { sentence: nothing, nothing }, []);
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
