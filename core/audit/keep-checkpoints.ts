import { MeshError } from '../base/errors.ts';
import { SYSTEM_WORKSPACE } from '../base/ids.ts';
import { asLeader, SOLE_LEADER } from '../base/leader.ts';
import type { AuditTree, Clock, Store, StoredCheckpoint } from '../base/ports.ts';
import { formatInstant } from '../base/time.ts';
import { openCheckpoint, readCheckpoint } from './checkpoint.ts';
import type { LogKeys, PublicLogKeys } from './log-keys.ts';
import type { NoteKey } from './note.ts';
import { rootOf } from './tree.ts';

interface LogServices {
  readonly store: Pick<Store, 'auditTree' | 'record' | 'workspaces'>;
  readonly clock: Clock;
  readonly keys: { readonly logs: LogKeys };
}

const DAY_MS = 86_400_000;

/**
 * A checkpoint of all that is in the log of a workspace, which is kept. Nothing is signed that contradicts the last one, be
 * it the one in the database or the one that is kept apart from it.
 *
 * @throws MeshError `unavailable` where the log does not hold what was signed before any more
 */
export async function makeCheckpoint(services: LogServices, workspace: string): Promise<StoredCheckpoint> {
  const { store, clock, keys } = services;
  const tree = store.auditTree(workspace);
  // Before the size: what others sign meanwhile is of a log that is no shorter.
  const [last] = await tree.checkpoints(1);
  const head = await keys.logs.heads.newest(workspace);
  const size = await tree.size();
  const when = last && `The checkpoint of ${formatInstant(last.at)} in the log of ${workspace}`;
  if (last && when) await requireConsistent(when, last.note, tree, size, noteKeysOf(keys.logs, workspace, last.at));
  if (head !== undefined && head !== last?.note) {
    await requireConsistent(headOf(workspace), head, tree, size, noteKeysOf(keys.logs, workspace));
  }
  if (last && isOf(last.note, size, keys.logs, workspace)) {
    if (head === undefined) await keys.logs.heads.keep(workspace, last.note);
    return last;
  }
  const signed =
    head !== undefined && isOf(head, size, keys.logs, workspace)
      ? head
      : await signedAt(keys.logs, workspace, tree, size);
  const made = { at: clock.now(), size, note: signed };
  if (size > 0) {
    await keys.logs.heads.keep(workspace, signed);
    await tree.keepCheckpoint(made);
  }
  return made;
}

/**
 * Signs the log as it stands, and keeps that apart from the database alone: what the database must hold from now on.
 *
 * @throws MeshError `unavailable` where it does not hold what was signed before
 */
export async function keepHead(services: LogServices, workspace: string): Promise<void> {
  const { store, keys } = services;
  const head = await keys.logs.heads.newest(workspace);
  if (head === undefined) {
    await makeCheckpoint(services, workspace);
    return;
  }
  const tree = store.auditTree(workspace);
  const size = await tree.size();
  if (readCheckpoint(head)?.size === size) return;
  await requireConsistent(headOf(workspace), head, tree, size, noteKeysOf(keys.logs, workspace));
  await keys.logs.heads.keep(workspace, await signedAt(keys.logs, workspace, tree, size));
}

async function signedAt(logs: LogKeys, workspace: string, tree: AuditTree, size: number): Promise<string> {
  return logs.sign({ origin: logs.originOf(workspace), size, root: await rootAt(tree, size) });
}

const headOf = (workspace: string) => `The newest signed checkpoint of ${workspace}, kept apart from the database,`;

/** Where something was written since the last checkpoint, or a day has passed: then an entry says that there was nothing. */
export async function keepCheckpoint(services: LogServices, workspace: string): Promise<void> {
  const { store, clock } = services;
  const { at, size } = await makeCheckpoint(services, workspace);
  if (size === 0 || clock.now() - at < DAY_MS) return;
  const detail = { since: formatInstant(at), size };
  await store.record(workspace, [{ type: 'audit.no_activity', actor: 'system:audit', result: 'ok', detail }]);
  await makeCheckpoint(services, workspace);
}

/** In every log that is led here, and in one that was signed and is gone, which fails. One that fails keeps no other from its own; the failure is thrown at the end. */
export async function keepCheckpoints(
  services: Omit<LogServices, 'store'> & { readonly store: Store },
  leading = SOLE_LEADER,
): Promise<void> {
  const failures: unknown[] = [];
  const [there, signed] = [await services.store.workspaces(), await services.keys.logs.heads.workspaces()];
  for (const workspace of new Set([SYSTEM_WORKSPACE, ...there, ...signed])) {
    const kept = asLeader(leading, services, workspace, (led) => keepCheckpoint(led, workspace));
    await kept.catch((error: unknown) => failures.push(error));
  }
  if (failures.length > 0) throw failures[0];
}

export function rootAt(tree: Pick<AuditTree, 'hashes'>, size: number): Promise<Uint8Array> {
  return rootOf(size, (ids) => tree.hashes(ids));
}

/**
 * The keys of the log of a workspace, as a verifier of notes takes them.
 *
 * @param at when the note was signed, as far as that is known: a key signs nothing once its time is over
 */
export function noteKeysOf({ keys, originOf }: PublicLogKeys, workspace: string, at?: number) {
  return keys
    .filter(({ until }) => at === undefined || until === undefined || at <= until)
    .map(({ publicKey }) => ({ name: originOf(workspace), publicKey }));
}

/** Returns true if a note is a checkpoint of that size, signed by the key in use. */
function isOf(note: string, size: number, logs: PublicLogKeys, workspace: string): boolean {
  const inUse = logs.keys.filter(({ until }) => until === undefined);
  return openCheckpoint(note, noteKeysOf({ ...logs, keys: inUse }, workspace))?.size === size;
}

async function requireConsistent(
  what: string,
  note: string,
  tree: AuditTree,
  size: number,
  keys: readonly NoteKey[],
): Promise<void> {
  const why = await checkpointContradiction(note, tree, size, keys);
  if (why === undefined) return;
  const then = 'Nothing more is signed: see docs/audit.md#when-a-log-contradicts-its-checkpoint.';
  throw new MeshError('unavailable', `${what} ${why} ${then}`);
}

/** Why a log does not hold what a checkpoint of it says, after the name of that checkpoint; undefined where it does. */
export async function checkpointContradiction(
  note: string,
  tree: Pick<AuditTree, 'hashes'>,
  size: number,
  keys: readonly NoteKey[],
): Promise<string | undefined> {
  const said = openCheckpoint(note, keys);
  if (!said)
    return 'is signed by no key that this installation had then: its credentials.json is another, or the note is.';
  if (said.size > size) return `has ${said.size} entries, the log ${size}: its end is missing.`;
  if (Buffer.compare(await rootAt(tree, said.size), said.root) === 0) return undefined;
  return `has another root than the log at its size, ${said.size}.`;
}
