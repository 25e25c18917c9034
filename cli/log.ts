import type { Command } from 'commander';
import { actorsNamed } from '../core/base/actor.ts';
import { nearest } from '../core/base/nearest.ts';
import type { AnyOperation } from '../core/base/operation.ts';
import { isWorkloadRule, ruleTokenName } from '../core/model/token-record.ts';
import { listAgents } from '../tools/agents/list-agents.ts';
import { listAudit } from '../tools/audit/list-audit.ts';
import { getPeer } from '../tools/peers/get-peer.ts';
import { listUsers } from '../tools/users/list-users.ts';
import { listMembers } from '../tools/workspaces/list-members.ts';
import { type Answer, answering } from './answer.ts';
import { callOperation } from './call-operation.ts';
import { CliError, EXIT } from './exit.ts';
import { allPages } from './list-commands.ts';
import { MOMENT_FORMS, momentOf } from './moments.ts';
import { type Target, type TargetOptions, targetOf } from './session.ts';
import { withTarget } from './target.ts';

interface LogOptions extends TargetOptions {
  readonly since?: string;
  readonly until?: string;
  readonly peer?: string;
  readonly by?: string;
  readonly limit: string;
  readonly all?: boolean;
  readonly installation?: boolean;
}

type Page = ReturnType<typeof listAudit.output.parse>;
type Entry = Page['items'][number];

const DEFAULT_LIMIT = '50';
const PAGE = 200;
/** Pages read for one answer: a filter that finds nothing ends somewhere. */
const MAX_PAGES = 50;

/** Kinds of records that change without anything of the network or of who may what changing by it. */
const BOOKKEEPING: ReadonlySet<string> = new Set([
  'AddressRest',
  'AssessmentPage',
  'Plan',
  'Presence',
  'ReviewPage',
  'Session',
  'Snapshot',
  'WebhookDelivery',
]);
const ROUTINE_EVENTS: ReadonlySet<string> = new Set(['token_used', 'session_idle', 'audit.no_activity']);

/** Steps of a workflow between its request and its end, each of which is an entry. */
const ON_ITS_WAY = /^workflow wf_\w+ (?:approved|executing): /;

const COLUMNS = { When: 'at', By: 'actor', What: 'what', Revision: 'revision' } as const;

/** `mesh log`: what changed and who changed it, newest first. */
export function defineLog(command: Command): void {
  answering(
    withTarget(command)
      .option('--since <moment>', `only since then: ${MOMENT_FORMS}`)
      .option('--until <moment>', 'only until then, likewise')
      .option('--peer <name>', 'only changes of this peer, by its name or id')
      .option('--by <name>', 'only what this person or agent did, such as ada or agent:ops')
      .option('--limit <n>', 'how many entries at most', DEFAULT_LIMIT)
      .option('--all', 'plans, snapshots and the use of tokens too')
      .option('--installation', 'the log of the installation: accounts, sign-ins, workspaces and members'),
    log,
  );
}

async function log(options: LogOptions): Promise<Answer> {
  const target = targetOf(options);
  const limit = limitOf(options.limit);
  const { isShown, peerFailure } = await filterOf(target, options);
  const asked = {
    ...(options.since !== undefined && { from: momentOf(options.since, '--since') }),
    ...(options.until !== undefined && { to: momentOf(options.until, '--until') }),
    ...(options.by !== undefined && { actor: options.by }),
    ...(options.peer !== undefined && { kind: 'MeshPeer' }),
  };
  const items: Entry[] = [];
  let cursor: string | undefined;
  for (let page = 0; page < MAX_PAGES && items.length < limit; page += 1) {
    const values = { ...asked, limit: PAGE, ...(cursor !== undefined && { cursor }) };
    const read = await callOperation(target, listAudit, values, { ofInstallation: options.installation });
    items.push(...read.items.filter(isShown));
    cursor = read.next_cursor;
    if (cursor === undefined) break;
  }
  if (items.length === 0 && peerFailure) throw peerFailure;
  if (items.length === 0 && options.by !== undefined) await requireActor(target, options.by, options);
  const isCut = cursor !== undefined || items.length > limit;
  const shown = items.slice(0, limit).map((entry) => ({ ...entry, what: entryText(entry) }));
  const revision = options.installation ? undefined : shown.find(isUndoable)?.revision;
  return {
    value: { items: shown },
    columns: COLUMNS,
    hints: [
      ...(isCut ? [`There is more: --limit ${limit * 2}, or --until with an earlier moment.`] : []),
      ...(revision === undefined
        ? []
        : [`To take back a change of a policy or network: mesh undo REVISION, such as ${revision}`]),
    ],
  };
}

/** @throws CliError */
function limitOf(text: string): number {
  if (/^[1-9]\d{0,4}$/.test(text)) return Number(text);
  throw new CliError(`--limit takes a whole number from 1 to 99999, not "${text}".`, EXIT.input);
}

/** @throws CliError for a name that is nobody here, and did nothing in the newest entries */
async function requireActor(target: Target, by: string, { installation: ofInstallation }: LogOptions): Promise<void> {
  const ever = await callOperation(target, listAudit, { actor: by, limit: 1 }, { ofInstallation });
  if (ever.items.length > 0) return;
  const recent = await callOperation(target, listAudit, { limit: PAGE }, { ofInstallation });
  const [people, agents] = await Promise.all([
    namesIn(target, ofInstallation ? listUsers : listMembers, 'user'),
    ofInstallation ? [] : namesIn(target, listAgents, 'agent'),
  ]);
  const actors = new Set([...people, ...agents, ...recent.items.map((entry) => entry.actor)]);
  if (actorsNamed(by).some((actor) => actors.has(actor))) return;
  const plain = (actor: string) => actor.replace(/^user:/, '');
  const near = nearest(plain(by), [...actors].map(plain)).map((name) => `"${name}"`);
  throw new CliError(
    `Nobody here is called "${plain(by)}".${near.length > 0 ? ` Did you mean ${near.join(' or ')}?` : ''}`,
    EXIT.notFound,
  );
}

/** Returns who a list names, as actors; none where the caller may not read it. */
async function namesIn(target: Target, list: AnyOperation<never>, kind: 'user' | 'agent'): Promise<string[]> {
  const { items } = await allPages(target, list, {}).catch(() => ({ items: [] }));
  return items.flatMap((item) => {
    const { username, name = username } = item as { readonly username?: string; readonly name?: string };
    return name === undefined ? [] : [`${kind}:${name}`];
  });
}

interface Filter {
  readonly isShown: (entry: Entry) => boolean;
  /** Why the peer that is named is not there: told where the log knows nothing of it either. */
  readonly peerFailure?: CliError | undefined;
}

/** Returns whether an entry is shown: one that matters, unless all are asked for, and of the peer that is named. */
async function filterOf(target: Target, { peer, all = false }: LogOptions): Promise<Filter> {
  if (peer === undefined) return { isShown: (entry) => all || isNotable(entry) };
  const found = await idOf(target, peer);
  const id = typeof found === 'string' ? found : undefined;
  // A peer that was renamed is the same one; of one that is gone the name is all that is left.
  const isOfPeer = ({ changes = [] }: Entry) =>
    changes.some(({ kind, uid, name }) => kind === 'MeshPeer' && (id === undefined ? name === peer : uid === id));
  return {
    isShown: (entry) => (all || isNotable(entry)) && isOfPeer(entry),
    peerFailure: typeof found === 'string' ? undefined : found,
  };
}

/** Returns the id of a peer, or why there is none. */
async function idOf(target: Target, peer: string): Promise<string | CliError> {
  try {
    return (await callOperation(target, getPeer, { id: peer })).id;
  } catch (error) {
    if (error instanceof CliError && error.exitCode === EXIT.notFound) return error;
    throw error;
  }
}

function isNotable({ type, event = '', result, changes = [], reason = '' }: Entry): boolean {
  if (type === 'event') return result === 'refused' || !ROUTINE_EVENTS.has(event);
  return changes.some(({ kind }) => !BOOKKEEPING.has(kind)) && !ON_ITS_WAY.test(reason);
}

/** Kinds whose changes can be taken back, whatever they were. */
const UNDOABLE: ReadonlySet<string> = new Set(['MeshPolicy', 'MeshNetwork']);

/** The commit that makes a workspace has its first member beside its network, and stays. */
const isUndoable = ({ revision, changes = [] }: Entry) =>
  revision !== undefined &&
  changes.some(({ kind }) => UNDOABLE.has(kind)) &&
  !changes.some(({ kind }) => kind === 'Member');

/** Returns an entry as a sentence: its reason, or its event, with what else is said of it and who approved it. */
function entryText(entry: Entry): string {
  const { type, reason, event = '', result, detail = {}, fields = [], approval, direct } = entry;
  const { reason: told, workspace: _, changes, ...rest } = detail;
  const all = [entry.changes, changes].flatMap((each) => (Array.isArray(each) ? each : []));
  const isMade = (kind: string, name: string) =>
    all.some((change) => change?.kind === kind && change.name === name && change.type === 'created');
  const said = reason ?? (typeof told === 'string' ? told : event.replaceAll(/[_.]/g, ' '));
  const isRefused = type === 'event' && result === 'refused' && said !== 'refused';
  const details = [
    ...Object.entries(rest).map(([field, value]) => `${field} ${textOf(value)}`),
    ...(Array.isArray(changes) ? changes.filter((each) => typeof each === 'string') : []),
    // The sentence tells what was made; what it was made with is in -o json, but for a rule, which says it by its fields alone.
    ...fields
      .filter(({ kind, name, field }) => !isMade(kind, name) || (isWorkloadRule({ name }) && field !== 'kind'))
      .map(({ kind, name, field, to, text }, at, shown) => {
        const isNamed = kind === 'Workspace' || said.includes(name) || shown[at - 1]?.name === name;
        return `${isNamed ? '' : `${shownName(name)} `}${isMade(kind, name) ? `${field}: ${to}` : text}`;
      }),
  ];
  const by = approval
    ? `; ${approval.reviewedBy === '' ? 'carried out without a person' : `approved by ${approval.reviewedBy}`}`
    : direct
      ? '; without an approval'
      : '';
  return `${by === '' ? said : said.replace(/\.$/, '')}${isRefused ? ' (refused)' : ''}${details.length > 0 ? `: ${details.join(', ')}` : ''}${by}`;
}

/** A rule for workloads is stored as a join token. */
const shownName = (name: string) => (isWorkloadRule({ name }) ? `rule ${name.slice(ruleTokenName('').length)}` : name);

const textOf = (value: unknown) => (typeof value === 'object' ? JSON.stringify(value) : String(value));
