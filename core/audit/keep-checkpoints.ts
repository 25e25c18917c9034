import { MeshError } from '../base/errors.ts';
import { SYSTEM_WORKSPACE } from '../base/ids.ts';
import type { AuditTree, Clock, KeptCheckpoint, Store } from '../base/ports.ts';
import { formatInstant } from '../base/time.ts';
import { openCheckpoint } from './checkpoint.ts';
import type { LogKeys } from './log-keys.ts';
import { rootOf } from './tree.ts';

interface LogServices {
  readonly store: Pick<Store, 'auditTree' | 'record' | 'workspaces'>;
  readonly clock: Clock;
  readonly keys: { readonly logs: LogKeys };
}

const DAY_MS = 86_400_000;

/**
 * A checkpoint of all that is in the log of a workspace, which is kept. Nothing is signed that contradicts the last one.
 *
 * @throws MeshError `unavailable` where the log does not hold what the last checkpoint says any more
 */
export async function makeCheckpoint(services: LogServices, workspace: string): Promise<KeptCheckpoint> {
  const { store, clock, keys } = services;
  const tree = store.auditTree(workspace);
  const size = await tree.size();
  const [last] = await tree.checkpoints(1);
  if (last) await requireHeld(services, workspace, tree, last, size);
  if (last?.size === size) return last;
  const root = await rootAt(tree, size);
  const made = { at: clock.now(), size, note: keys.logs.sign({ origin: keys.logs.originOf(workspace), size, root }) };
  if (size > 0) await tree.keepCheckpoint(made);
  return made;
}

/** Where something was written since the last checkpoint, or a day has passed: then an entry says that there was nothing. */
export async function keepCheckpoint(services: LogServices, workspace: string): Promise<void> {
  const { store, clock } = services;
  const tree = store.auditTree(workspace);
  const [last] = await tree.checkpoints(1);
  const size = await tree.size();
  if (size === 0) return;
  if (last?.size === size) {
    if (clock.now() - last.at < DAY_MS) return;
    const detail = { since: formatInstant(last.at), size: last.size };
    await store.record(workspace, [{ type: 'audit.no_activity', actor: 'system:audit', result: 'ok', detail }]);
  }
  await makeCheckpoint(services, workspace);
}

/** In every log there is. One that fails keeps no other from its own; the failure is thrown at the end. */
export async function keepCheckpoints(services: LogServices): Promise<void> {
  const failures: unknown[] = [];
  for (const workspace of new Set([SYSTEM_WORKSPACE, ...(await services.store.workspaces())])) {
    await keepCheckpoint(services, workspace).catch((error: unknown) => failures.push(error));
  }
  if (failures.length > 0) throw failures[0];
}

export function rootAt(tree: AuditTree, size: number): Promise<Uint8Array> {
  return rootOf(size, (ids) => tree.hashes(ids));
}

/** The keys of the log of a workspace, as a verifier of notes takes them. */
export function noteKeysOf({ keys, originOf }: LogKeys, workspace: string) {
  return keys.map(({ publicKey }) => ({ name: originOf(workspace), publicKey }));
}

async function requireHeld(
  { keys }: LogServices,
  workspace: string,
  tree: AuditTree,
  last: KeptCheckpoint,
  size: number,
): Promise<void> {
  const said = openCheckpoint(last.note, noteKeysOf(keys.logs, workspace));
  const when = `The checkpoint of ${formatInstant(last.at)} in the log of ${workspace}`;
  const then = 'Nothing more is signed: see docs/audit.md#when-a-log-contradicts-its-checkpoint.';
  if (!said) throw new MeshError('unavailable', `${when} is signed by no key of this installation. ${then}`);
  if (said.size > size) {
    throw new MeshError(
      'unavailable',
      `${when} has ${said.size} entries, the log ${size}: its end is missing. ${then}`,
    );
  }
  if (Buffer.compare(await rootAt(tree, said.size), said.root) === 0) return;
  throw new MeshError('unavailable', `${when} has another root than the log at its size, ${said.size}. ${then}`);
}
