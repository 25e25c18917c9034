import { openCheckpoint } from '../../audit/checkpoint.ts';
import { checkpointContradiction, noteKeysOf, rootAt } from '../../audit/keep-checkpoints.ts';
import { hashOfEntry } from '../../audit/leaf.ts';
import type { LogTrustAnchors, PublicLogKeys } from '../../audit/log-keys.ts';
import { GrowingTree } from '../../audit/tree.ts';
import type { AuditTree, Store, StoredCheckpoint } from '../../base/ports.ts';
import { formatInstant } from '../../base/time.ts';
import { lastWitnesses } from '../../peers/witness-reports.ts';
import { counted } from '../check-result.ts';
import { type Fact, type FactContext, unknown } from './fact.ts';

/** Entries that one assessment hashes at most: some seconds. The next one goes on from there. */
const MAX_ENTRIES = 500_000;
const PAGE = 500;
/** The age at which hashed entries are hashed again, because somebody may have changed them meanwhile; ms. */
const FRESH_MS = 86_400_000;
/** Covers one checkpoint a day for as long as assessments are kept. */
const MAX_CHECKPOINTS = 1_200;

/** As far as a log was recomputed in this process. */
interface Progress {
  readonly tree: GrowingTree;
  readonly begunAt: number;
}

const progress = new WeakMap<Store, Map<string, Progress>>();

/** Recomputes the audit log from its entries, and holds all kept checkpoints against it. */
export async function verifiedLog({ services, workspace, from: begin, at }: FactContext): Promise<Fact> {
  const period = begin === undefined ? undefined : { from: begin, to: at };
  const { store, clock, logs } = services;
  const tree = store.auditTree(workspace);
  const checkpoints = [...(await tree.checkpoints(MAX_CHECKPOINTS))].sort((a, b) => a.size - b.size);
  const newest = checkpoints.at(-1);
  const done = progressOf(store, workspace, clock.now());
  const fault =
    (await behindHead(tree, workspace, logs)) ?? (await recompute(tree, checkpoints, { logs, workspace, done }));
  if (fault !== undefined) {
    progress.get(store)?.delete(workspace);
    return { holds: false, evidence: `The audit log does not verify: ${fault}`, remedy: REMEDY };
  }
  if (!newest)
    return unknown('No checkpoint of the audit log was signed yet.', 'An auditor assesses again in a minute.');
  if (done.tree.size < newest.size) {
    const evidence = `Entries 0 to ${done.tree.size - 1} of ${newest.size} were recomputed and verify; the rest is not yet.`;
    return unknown(evidence, 'An auditor assesses again, which goes on from there, or runs mesh audit verify.');
  }
  const root = Buffer.from(await rootAt(tree, newest.size)).toString('base64');
  const { from, to } = period ?? { from: 0, to: clock.now() };
  const range = await rangeOf(store, workspace, from, to);
  const told = [
    `Entries 0 to ${newest.size - 1} give the root ${root}, as signed on ${formatInstant(newest.at)}`,
    `${counted(checkpoints.length, 'kept checkpoint')} verify; ${range}`,
    await witnessText(services, workspace),
  ];
  return { holds: true, evidence: `${told.join('. ')}.`, remedy: '' };
}

const REMEDY =
  'An auditor runs mesh audit verify from a machine that saw the log before, and the host administrator keeps a copy of the database.';

function progressOf(store: Store, workspace: string, now: number): Progress {
  const all = progress.get(store) ?? new Map<string, Progress>();
  progress.set(store, all);
  const known = all.get(workspace);
  if (known && now - known.begunAt < FRESH_MS) return known;
  const begun = { tree: new GrowingTree(), begunAt: now };
  all.set(workspace, begun);
  return begun;
}

/**
 * Compares the log with its newest head, which is stored apart: whoever controls the database can remove checkpoints from it,
 * but not that head. @returns the fault
 */
async function behindHead(tree: AuditTree, workspace: string, logs: LogTrustAnchors): Promise<string | undefined> {
  const what = 'the newest signed checkpoint, kept apart from the database,';
  try {
    const head = await logs.heads.newest(workspace);
    const why = head && (await checkpointContradiction(head, tree, await tree.size(), noteKeysOf(logs, workspace)));
    return why && `${what} ${why}`;
  } catch (error) {
    return `${what} could not be held against it: ${(error as Error).message}`;
  }
}

/** @returns what is wrong */
async function recompute(
  tree: AuditTree,
  checkpoints: readonly StoredCheckpoint[],
  { logs, workspace, done }: { readonly logs: PublicLogKeys; readonly workspace: string; readonly done: Progress },
): Promise<string | undefined> {
  const growing = done.tree;
  const last = checkpoints.at(-1)?.size ?? 0;
  const end = Math.min(last, growing.size + MAX_ENTRIES);
  const roots = new Map([[growing.size, growing.root()]]);
  const sizes = new Set(checkpoints.map(({ size }) => size));
  while (growing.size < end) {
    const entries = await tree.entries(growing.size, Math.min(PAGE, end - growing.size));
    if (entries.length === 0) return `entry ${growing.size} is missing.`;
    for (const entry of entries) {
      growing.append(hashOfEntry(entry));
      if (sizes.has(growing.size)) roots.set(growing.size, growing.root());
    }
  }
  for (const { at, size, note } of checkpoints) {
    if (size > growing.size) break;
    const when = `the checkpoint of ${formatInstant(at)}`;
    const said = openCheckpoint(note, noteKeysOf(logs, workspace, at));
    if (said?.size !== size) return `${when} is signed by no key of that time.`;
    // An earlier assessment already recomputed the tree up to older checkpoints: the stored tree stands for them.
    const root = roots.get(size) ?? (await rootAt(tree, size));
    if (Buffer.compare(root, said.root) !== 0) return `${when} has another root than entries 0 to ${size - 1} give.`;
  }
  return undefined;
}

async function rangeOf(store: Store, workspace: string, from: number, to: number): Promise<string> {
  const [last] = await store.audit(workspace, { from, to, limit: 1 });
  if (!last) return 'none of the entries is of the period';
  const before = from > 0 ? await store.audit(workspace, { to: from - 1, limit: 1 }) : [];
  return `of the period are ${(before[0]?.seq ?? -1) + 1} to ${last.seq}`;
}

async function witnessText({ store, clock }: FactContext['services'], workspace: string): Promise<string> {
  const told = await lastWitnesses({ store }, workspace, clock.now());
  if (!told) return 'No node has said lately that it verified it';
  return `By ${formatInstant(told.at)} ${told.witnesses} of ${counted(told.nodes, 'node')} had verified ${told.size}`;
}
