import { invalidInput, MeshError } from '../base/errors.ts';
import { SYSTEM_WORKSPACE } from '../base/ids.ts';
import { type AsOf, StoreError } from '../base/ports.ts';
import { instantText } from '../base/text.ts';
import { formatInstant, parseInstant } from '../base/time.ts';
import type { NetworkServices } from '../state/services.ts';
import type { NetworkState } from '../state/state.ts';
import { beforeHistory } from './beginning.ts';
import type { SnapshotRecord } from './snapshot-record.ts';
import { getSnapshot } from './snapshots.ts';

/** Where in the past a question stands: at a snapshot, or at any instant. */
export interface Point {
  readonly asOf: AsOf;
  /** Milliseconds: expiries count from it. */
  readonly instant: number;
  readonly snapshot?: SnapshotRecord;
}

/**
 * The point that the fields `at` and `snapshot_id` name; undefined = now.
 *
 * @throws MeshError `invalid_input` for an instant ahead of the clock, `not_found` for an unknown snapshot.
 */
export async function pointOf(
  services: Pick<NetworkServices, 'store' | 'clock'>,
  workspace: string,
  { at, snapshot_id: id }: { readonly at?: string | undefined; readonly snapshot_id?: string | undefined },
): Promise<Point | undefined> {
  if (id !== undefined && at !== undefined) {
    const detail = 'Give at or snapshot_id, not both.';
    throw invalidInput([{ pointer: '/snapshot_id', detail }], detail);
  }
  if (at !== undefined) return pointAt(services, workspace, at, '/at');
  return id === undefined ? undefined : pointAt(services, workspace, id, '/snapshot_id');
}

/** Ids begin with a letter. */
const BEGINS_INSTANT = /^[+-]?\d/;
const instantSchema = instantText('');

/** The point that a snapshot's id or an instant names. @param pointer the field that it came in @throws MeshError */
export async function pointAt(
  services: Pick<NetworkServices, 'store' | 'clock'>,
  workspace: string,
  text: string,
  pointer: string,
): Promise<Point> {
  if (!BEGINS_INSTANT.test(text)) {
    const snapshot = await getSnapshot(services, workspace, text);
    return { asOf: { revision: snapshot.spec.revision }, instant: snapshot.spec.capturedAt, snapshot };
  }
  const refuse = (detail: string) => invalidInput([{ pointer, detail }], `${pointer}: ${detail}`);
  if (!instantSchema.safeParse(text).success) throw refuse('Write an instant as 2026-01-31T12:00:00Z.');
  const instant = parseInstant(text);
  if (instant > services.clock.now()) throw refuse('This lies in the future: ask about an instant up to now.');
  return { asOf: { at: instant }, instant };
}

/** The same point, or where history begins for one that lies before: the end of a range is cut, a moment is refused. */
export async function sinceBeginning(
  { store }: Pick<NetworkServices, 'store'>,
  workspace: string,
  point: Point,
): Promise<{ readonly point: Point; readonly begin?: number }> {
  const kept = point.snapshot ? undefined : await store.keptFrom(workspace);
  if (!kept || kept.revision > 1 || kept.at <= point.instant) return { point };
  return { point: { asOf: { revision: kept.revision }, instant: kept.at }, begin: kept.at };
}

/**
 * The network as it was at a point.
 *
 * @throws MeshError `not_found` before history begins, `expired` where it is no longer kept
 */
export async function stateAt(
  { store, states }: Pick<NetworkServices, 'store' | 'states'>,
  workspace: string,
  { asOf, instant }: Point,
): Promise<NetworkState> {
  try {
    const revision = 'revision' in asOf ? asOf.revision : (await store.revisionAt(workspace, asOf.at))?.revision;
    if (revision !== undefined) return await states.asOf(workspace, { revision });
  } catch (error) {
    if (!(error instanceof StoreError && error.code === 'compacted')) throw error;
  }
  throw await notKnown({ store }, workspace, instant);
}

/** Returns the error for an instant of which nothing is known, with the beginning of the known history. */
export async function notKnown(
  { store }: Pick<NetworkServices, 'store'>,
  workspace: string,
  instant: number,
): Promise<MeshError> {
  const record = await store.getById(SYSTEM_WORKSPACE, 'Workspace', workspace);
  if (record && record.createdAt > instant) {
    return beforeHistory({ store }, workspace, record.createdAt);
  }
  const when = formatInstant(instant);
  const kept = await store.keptFrom(workspace);
  const since = kept && formatInstant(kept.at);
  const hint = since === undefined ? 'ask about a later instant' : `history is kept since ${since}`;
  const detail = `What the network was at ${when} is no longer kept: ${hint}.`;
  return new MeshError('expired', detail, since === undefined ? {} : { known_since: since });
}
