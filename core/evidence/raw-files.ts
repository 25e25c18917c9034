import { type AsOf, StoreError } from '../base/ports.ts';
import type { Kind, StoredRecord } from '../base/record.ts';
import { API_VERSION } from '../base/record.ts';
import { formatInstant } from '../base/time.ts';
import type { AssessmentSpec } from '../compliance/assessment-record.ts';
import { capturedAtOf, type SnapshotRecord } from '../history/snapshot-record.ts';
import { listSnapshots } from '../history/snapshots.ts';
import type { WorkflowRecord } from '../model/workflow-records.ts';
import type { NetworkServices } from '../state/services.ts';
import { writtenPolicies } from '../state/state.ts';
import { editablePolicy } from '../views/policy-view.ts';
import { toYaml } from '../views/render-yaml.ts';
import { resultRevision } from '../workflow/workflow-record.ts';
import { csvLine } from './csv.ts';
import type { LogPart } from './log-part.ts';
import type { ReportedRecords } from './reported-records.ts';

/** The sources of the raw data files. */
export interface RawContext {
  readonly services: Pick<NetworkServices, 'store' | 'states' | 'nextTurn'>;
  readonly workspace: string;
  /** ms */
  readonly period: Pick<AssessmentSpec, 'from' | 'to'>;
  readonly log: LogPart;
  /** Known once the log has been read. */
  readonly told: ReportedRecords;
}

/** A population: where it is from, and its rows as they are written. */
export interface RawFile {
  readonly path: string;
  readonly title: string;
  readonly mediaType: string;
  readonly source: string;
  readonly query: string;
  readonly holds: readonly ('policies' | 'revisions' | 'snapshots' | 'workflows')[];
  /** Texts that the file consists of, each with how many rows are in it. */
  rows(context: RawContext): AsyncGenerator<Rows>;
}

interface Rows {
  readonly text: string;
  readonly count: number;
}

/** Records and entries read at once. */
const PAGE = 250;
const WORKFLOW_PAGE = 50;

export const CSV_COLUMNS = [
  'workflow_id',
  'state',
  'requestedBy',
  'requestedAt',
  'appliedBy',
  'reviewedBy',
  'reviewedAt',
  'autoApprove',
  'selfApproved',
  'overridden',
  'riskLevel',
  'intent',
  'changes',
  'result_revision',
  'note',
  'error',
] as const;

/** In the order in which they are written: the log comes before what is chosen by it. */
export const RAW_FILES: readonly RawFile[] = [
  {
    path: 'raw-data/policies-current.yaml',
    title: 'Policies in force when it was assessed',
    mediaType: 'application/yaml',
    source: 'MeshPolicy records of the workspace',
    query: 'all, as they were at the revision that stored the assessment',
    holds: ['policies'],
    rows: policies,
  },
  {
    path: 'raw-data/audit-log.jsonl',
    title: 'Entries of the audit log, oldest first',
    mediaType: 'application/jsonl',
    source: 'audit log of the workspace',
    query: 'all from the newest entry before the period to the entry of the assessment, oldest first',
    holds: ['revisions'],
    rows: entries,
  },
  {
    path: 'raw-data/snapshots-timeline.json',
    title: 'Snapshots of the period, newest first',
    mediaType: 'application/json',
    source: 'Snapshot records of the workspace',
    query:
      'all with captured_at in the period that an entry of raw-data/audit-log.jsonl created and none deleted, newest first; with kept: false where no more was kept of one when it was exported',
    holds: ['snapshots', 'revisions'],
    rows: snapshots,
  },
  {
    path: 'raw-data/workflow-audit-log.csv',
    title: 'Approval workflows that the entries tell of',
    mediaType: 'text/csv',
    source: 'Workflow records of the workspace',
    query:
      'all that an entry of raw-data/audit-log.jsonl created or changed, as they were at the revision that stored the assessment, by id',
    holds: ['workflows', 'revisions'],
    rows: workflows,
  },
];

async function* policies({ services, workspace, log }: RawContext): AsyncGenerator<Rows> {
  const state = await unlessGone(() => services.states.asOf(workspace, { revision: log.revision }));
  if (!state) {
    yield { text: `# What the network was at revision ${log.revision} is no longer kept.\n`, count: 0 };
    return;
  }
  const policies = [...writtenPolicies(state).values()];
  if (policies.length === 0) yield { text: '# There are no policies.\n', count: 0 };
  for (const policy of policies.sort((a, b) => (a.name < b.name ? -1 : 1))) {
    const { name, uid, labels, annotations, revision } = policy;
    const { spec } = editablePolicy(policy, state);
    const metadata = { name, uid, revision, labels: sorted(labels), annotations: sorted(annotations) };
    yield { text: `---\n${toYaml({ apiVersion: API_VERSION, kind: 'MeshPolicy', metadata, spec })}`, count: 1 };
  }
}

function sorted(map: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(Object.entries(map).sort(([a], [b]) => (a < b ? -1 : 1)));
}

/** An array with a row on each line: each snapshot that the log tells of, also where its record is gone by now. */
async function* snapshots(context: RawContext): AsyncGenerator<Rows> {
  const kept = snapshotsOfPeriod(context);
  let next = await kept.next();
  let separator = '[\n';
  for (const [id, name] of context.told.snapshotsIn(context.period)) {
    // Snapshots made after the assessment that show an earlier instant are skipped: they are not in this part of the log.
    while (!next.done && next.value.name < name) next = await kept.next();
    const record = !next.done && next.value.uid === id ? next.value : undefined;
    yield { text: `${separator}${JSON.stringify(rowOf(context.workspace, id, name, record))}`, count: 1 };
    separator = ',\n';
  }
  yield { text: separator === '[\n' ? '[]\n' : '\n]\n', count: 0 };
}

function rowOf(workspace: string, id: string, name: string, record: SnapshotRecord | undefined) {
  const captured = { snapshot_id: id, workspace_id: workspace, captured_at: formatInstant(capturedAtOf(name)) };
  if (!record) return { ...captured, kept: false };
  const { trigger, triggeredBy, revision, digest } = record.spec;
  return { ...captured, trigger_type: trigger, triggered_by: triggeredBy, revision, digest };
}

/** Newest first, in the order of their names. */
async function* snapshotsOfPeriod({ services, workspace, period }: RawContext): AsyncGenerator<SnapshotRecord> {
  for (let cursor: string | undefined; ; ) {
    const page = await listSnapshots(services, workspace, { ...period, cursor, limit: PAGE });
    yield* page.items;
    if (page.next === undefined) return;
    cursor = page.next;
    await services.nextTurn();
  }
}

async function* entries({ services, log, told }: RawContext): AsyncGenerator<Rows> {
  for (let from = log.firstSeq; from <= log.lastSeq; from += PAGE) {
    const texts = await log.tree.entries(from, Math.min(PAGE, log.lastSeq - from + 1));
    for (const text of texts) if (NAMES_RECORD.test(text)) told.take(JSON.parse(text));
    yield { text: texts.map((text) => `${text}\n`).join(''), count: texts.length };
    await services.nextTurn();
  }
}

/** Matches entries that may name such a record; only these are parsed. */
const NAMES_RECORD = /"(?:Workflow|Snapshot)"/;

async function* workflows(context: RawContext): AsyncGenerator<Rows> {
  yield { text: csvLine(CSV_COLUMNS), count: 0 };
  for await (const records of pagesOf(context, 'Workflow', WORKFLOW_PAGE)) {
    const rows = records
      .filter(({ name }) => context.told.workflows.has(name))
      .map((record) => csvLine(cellsOf(record)));
    yield { text: rows.join(''), count: rows.length };
    await context.services.nextTurn();
  }
}

function cellsOf(record: WorkflowRecord): string[] {
  const { uid, createdAt, spec, status } = record;
  return [
    uid,
    status.state,
    spec.requestedBy,
    formatInstant(createdAt),
    spec.appliedBy,
    status.reviewedBy ?? '',
    status.reviewedAt ?? '',
    String(spec.autoApprove),
    String(status.selfApproved ?? false),
    String(spec.overridden),
    spec.riskLevel,
    spec.intent,
    spec.shown.map(({ action, resource, name }) => `${action} ${resource}/${name}`).join('; '),
    String(resultRevision(record) ?? ''),
    status.note ?? '',
    status.error ?? '',
  ];
}

/** Records of a kind as they were when the assessment was stored; as they are now where that is no longer kept. */
async function* pagesOf<K extends Kind>(
  { services, workspace, log }: RawContext,
  kind: K,
  limit: number,
): AsyncGenerator<readonly StoredRecord<K>[]> {
  const asOf: AsOf = { revision: log.revision };
  const list = (after: string | undefined, past: AsOf | undefined) =>
    services.store.list(workspace, kind, { limit, ...(after !== undefined && { after }), ...(past && { asOf: past }) });
  const past = (await unlessGone(() => list(undefined, asOf))) ? asOf : undefined;
  for (let after: string | undefined; ; ) {
    const page = await list(after, past);
    yield page.items;
    after = page.items.at(-1)?.name;
    if (page.next === undefined || after === undefined) return;
  }
}

async function unlessGone<T>(read: () => Promise<T>): Promise<T | undefined> {
  try {
    return await read();
  } catch (error) {
    if (error instanceof StoreError && error.code === 'compacted') return undefined;
    throw error;
  }
}
