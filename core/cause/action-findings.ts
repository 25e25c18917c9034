import { lineText } from '../base/as-data.ts';
import { invalidInput } from '../base/errors.ts';
import type { CallContext } from '../base/operation.ts';
import type { Change, Commit } from '../base/ports.ts';
import { foldName, type StoredRecord } from '../base/record.ts';
import { withRenames } from '../base/renames.ts';
import { formatInstant } from '../base/time.ts';
import { isOfKind } from '../base/written-record.ts';
import { commitView, networkCommits } from '../history/blame.ts';
import { changeView, commitAt } from '../history/commits-between.ts';
import { namesOfIdentity } from '../history/pair/identity.ts';
import type { Aspect, Question, ResourceOverRange } from '../history/pair/question-reader.ts';
import type { Range } from '../history/pair/range.ts';
import { resourceChanges } from '../history/resource-changes.ts';
import type { ComputeServices } from '../intent/plan/services.ts';
import { sameAccess } from '../model/peer-access.ts';
import { sameValue } from '../model/value.ts';

type Context = CallContext<ComputeServices>;

export type ActionQuestion = Extract<Question, { about: 'resource' | 'deeds' }>;

/** Commits that are read for one answer. */
const MAX_COMMITS = 1_000;

/** An action on a resource. */
interface Action {
  readonly commit: Commit;
  readonly aspect: Aspect;
  /** `laptop-bob was renamed to bob-mbp`. */
  readonly did: string;
}

/**
 * Returns the actions on a resource over a range, with their actors and approvers: its own history, not that of its
 * connections. The newest first.
 */
export async function actionFindings(
  context: Context,
  asked: ActionQuestion,
  range: Range,
  { begin, limit }: { readonly begin: number; readonly limit: number },
) {
  const told =
    asked.about === 'deeds' ? await actionsBy(context, asked.actor, range) : await actionsOn(context, asked, range);
  const texts = await Promise.all(told.deeds.slice(begin, begin + limit).map((deed) => actionText(context, deed)));
  return {
    ...told,
    count: told.deeds.length,
    findings: texts.map((found, index) => ({ rank: begin + index + 1, ...found })),
  };
}

/** Returns the actions of an agent, a person or a device on the network. */
async function actionsBy(context: Context, actor: string, range: Range) {
  const { services, workspace } = context;
  const span = { after: range.first, upTo: range.last, limit: MAX_COMMITS };
  const commits = await networkCommits(services, workspace, span);
  requireFew(commits.length, 'The network', range);
  const isOwn = (given: string) => given === actor || given.slice(given.indexOf(':') + 1) === actor;
  const own = commits.filter((commit) => isOwn(foldName(commit.actor)));
  const deeds = own.toReversed().map((commit): Action => {
    return { commit, aspect: 'changed', did: commitView(commit).resources.join(', ') };
  });
  const [newest] = deeds;
  const summary = newest
    ? `${newest.commit.actor} changed the network ${deeds.length === 1 ? 'once' : `${deeds.length} times`}. Last: ${(await actionText(context, newest)).sentence}`
    : `Nobody called ${JSON.stringify(actor)} changed the network in this range.`;
  return { what: `What ${actor} changed`, summary, deeds };
}

async function actionsOn(
  context: Context,
  { resource, aspect }: Extract<Question, { about: 'resource' }>,
  range: Range,
) {
  const all = (await actionsOf(context, resource, aspect, range)).filter((deed) => matchesAspect(deed, aspect));
  const [newest] = all;
  const others = all.length - 1;
  const what = `${nounOf(resource)} ${resource.name}`;
  const more = others > 0 ? ` ${others} more of the kind in this range.` : '';
  return {
    what: `What was done to the ${what}${aspect === 'changed' ? '' : ` (${aspect})`}`,
    summary:
      newest === undefined
        ? `The ${what} ${NOT[aspect]} in this range.`
        : `${onlineText(newest, aspect, what, range)}${(await actionText(context, newest)).sentence}${more}`,
    deeds: all,
  };
}

const NOT: Readonly<Record<Aspect, string>> = {
  created: 'was not created',
  deleted: 'was not deleted',
  renamed: 'was not renamed',
  labels: 'got no other labels',
  approved: 'was approved by nobody',
  online: 'neither came online nor went offline',
  changed: 'was not changed',
};

function nounOf({ kind }: ResourceOverRange): string {
  switch (kind) {
    case 'MeshPeer':
      return 'peer';
    case 'MeshPolicy':
      return 'policy';
    case 'MeshNetwork':
      return 'network';
    case 'AgentIdentity':
      return 'agent';
    default:
      return kind satisfies never;
  }
}

/** A policy is approved with the change that wrote it, a peer by whoever lets it in. */
function matchesAspect({ aspect, commit }: Action, asked: Aspect): boolean {
  if (asked === 'changed') return aspect !== 'online';
  return aspect === asked || (asked === 'approved' && commit.approval !== undefined);
}

function onlineText(newest: Action, aspect: Aspect, what: string, { to }: Range): string {
  if (aspect !== 'online') return '';
  return `The ${what} was ${newest.did.endsWith('came online') ? 'online' : 'offline'} at ${formatInstant(to)}. Last: `;
}

async function actionText({ services }: Context, { commit, did }: Action) {
  const change = await changeView(services, commit);
  const approved = change.reviewed_by ? `, approved by ${change.reviewed_by}` : '';
  const who = `in revision ${change.revision} by ${change.actor} (${JSON.stringify(change.reason)})${approved}`;
  return {
    at: formatInstant(commit.at),
    sentence: lineText(`${formatInstant(commit.at)}: ${did}, ${who}.`),
    change: { ...change, changed: resourceChanges(commit) },
    restore: null,
    no_restore: null,
  };
}

/** @throws MeshError `invalid_input` where something changed too often for one answer */
function requireFew(count: number, what: string, { from }: Range): void {
  if (count < MAX_COMMITS) return;
  const detail = `${what} changed ${MAX_COMMITS} times or more since ${formatInstant(from)}: ask about a shorter range.`;
  throw invalidInput([{ pointer: '/from', detail }], `/from: ${detail}`);
}

/** @throws MeshError as {@link requireFew} does */
async function actionsOf(
  context: Context,
  resource: ResourceOverRange,
  aspect: Aspect,
  range: Range,
): Promise<Action[]> {
  const { services, workspace } = context;
  const names =
    resource.kind === 'MeshPeer' ? await namesOfIdentity(services, workspace, resource, range) : [resource.name];
  const kind = aspect === 'online' ? 'Presence' : resource.kind;
  const span = { after: range.first, upTo: range.last };
  const versions = await Promise.all(names.map((name) => services.store.versions(workspace, kind, { ...span, name })));
  const revisions = [...new Set(versions.flat().map(({ revision }) => revision))].sort((a, b) => b - a);
  requireFew(revisions.length, resource.name, range);
  const commits = await Promise.all(revisions.map((revision) => commitAt(services, workspace, revision)));
  return commits.flatMap((commit) => (commit ? actionsIn(commit, kind, resource, names) : []));
}

function actionsIn(commit: Commit, kind: string, { uid }: ResourceOverRange, names: readonly string[]): Action[] {
  const folded = new Set(names.map(foldName));
  const own = commit.changes.filter(({ record }) => {
    return record.kind === kind && folded.has(foldName(record.name)) && (kind !== 'MeshPeer' || record.uid === uid);
  });
  return withRenames(own).flatMap((change) => {
    const deed: Action = { commit, ...actionOf(change) };
    const { record, before } = change;
    if (!before || before.name === record.name) return [deed];
    const renamed: Action = { commit, aspect: 'renamed', did: `${before.name} was renamed to ${record.name}` };
    return isOfKind(change, 'MeshPeer') && change.before && !sameAccess(change.before, change.record)
      ? [renamed, deed]
      : [renamed];
  });
}

function actionOf(change: Change): Omit<Action, 'commit'> {
  const { type, record, before } = change;
  const { name } = record;
  if (isOfKind(change, 'Presence')) {
    const isOnline = type !== 'deleted' && change.record.spec.online;
    return { aspect: 'online', did: `${name} ${isOnline ? 'came online' : 'went offline'}` };
  }
  if (type === 'created') return { aspect: 'created', did: `${name} was created` };
  if (type === 'deleted' || !before) return { aspect: 'deleted', did: `${name} was deleted` };
  if (!sameValue(before.labels, record.labels))
    return { aspect: 'labels', did: `${name} got other labels: ${labelsText(before, record)}` };
  if (isOfKind(change, 'MeshPeer') && change.before && change.before.status.phase !== change.record.status.phase) {
    const { phase } = change.record.status;
    return { aspect: 'approved', did: `${name} is ${phase} and was ${change.before.status.phase}` };
  }
  return { aspect: 'changed', did: `${name} was changed` };
}

/** `env is "staging" and was "prod"`. */
function labelsText({ labels: old }: StoredRecord, { labels: now }: StoredRecord): string {
  const text = (value: string | undefined) => (value === undefined ? 'nothing' : JSON.stringify(value));
  return [...new Set([...Object.keys(old), ...Object.keys(now)])]
    .filter((key) => old[key] !== now[key])
    .map((key) => `${key} is ${text(now[key])} and was ${text(old[key])}`)
    .join(', ');
}
