import type { WitnessReport } from '../model/witnesses.ts';
import type { HistoryServices, NetworkServices } from '../state/services.ts';

type WitnessServices = HistoryServices & Pick<NetworkServices, 'witnesses'>;

const DAY_MS = 86_400_000;
/** The entry by which a log says who has seen it. */
export const WITNESSES = 'audit.witnesses';

/** Takes note of what a node says of the audit log. What it refuses becomes an event of the workspace. */
export async function recordWitness(
  { store, clock, witnesses }: Pick<WitnessServices, 'store' | 'clock' | 'witnesses'>,
  workspace: string,
  { uid, name }: { readonly uid: string; readonly name: string },
  said: WitnessReport,
): Promise<void> {
  if (!witnesses.heard(workspace, uid, said, clock.now()) || !said.finding) return;
  const detail = { peer: uid, size: said.size, ...said.finding };
  await store.record(workspace, [{ type: 'audit.contradicted', actor: `device:${name}`, result: 'refused', detail }]);
}

/** The newest checkpoint that is kept of the log of a workspace. */
export async function newestCheckpoint(
  { store }: Pick<WitnessServices, 'store'>,
  workspace: string,
): Promise<string | null> {
  const [newest] = await store.auditTree(workspace).checkpoints(1);
  return newest?.note ?? null;
}

/** The same for a node that was sent none for an hour; else null. */
export async function dueCheckpoint(
  { store, clock, witnesses }: Pick<WitnessServices, 'store' | 'clock' | 'witnesses'>,
  workspace: string,
  peerUid: string,
): Promise<string | null> {
  return witnesses.isDue(peerUid, clock.now()) ? newestCheckpoint({ store }, workspace) : null;
}

/** How many nodes have seen the log of a workspace, and up to where. */
export interface WitnessCount {
  /** Ready nodes. */
  readonly nodes: number;
  /** Nodes that verified a checkpoint and refuse none. */
  readonly witnesses: number;
  readonly refusing: number;
  /** Entries that each of the witnesses has verified at least. */
  readonly size: number;
}

export async function countWitnesses(
  { states, witnesses }: Pick<WitnessServices, 'states' | 'witnesses'>,
  workspace: string,
): Promise<WitnessCount> {
  const state = await states.current(workspace);
  const ready = [...state.peers.values()].filter(({ status }) => status.phase === 'ready');
  const said = ready.flatMap(({ uid }) => witnesses.of(workspace, uid) ?? []);
  const agreeing = said.filter(({ finding, size }) => finding === undefined && size > 0);
  return {
    nodes: ready.length,
    witnesses: agreeing.length,
    refusing: said.filter(({ finding }) => finding !== undefined).length,
    size: agreeing.reduce((least, { size }) => Math.min(least, size), agreeing[0]?.size ?? 0),
  };
}

/** Once a day an entry of the log says how many nodes have seen it: so that it is shown of the past too. */
export async function logWitnesses(services: WitnessServices, workspace: string): Promise<void> {
  const { store, clock } = services;
  const { refusing: _, ...count } = await countWitnesses(services, workspace);
  if (count.witnesses === 0) return;
  const last = await lastWitnesses(services, workspace, clock.now());
  if (last && clock.now() - last.at < DAY_MS) return;
  await store.record(workspace, [{ type: WITNESSES, actor: 'system:audit', result: 'ok', detail: count }]);
}

/** Returns the last entry of the log about its witnesses, up to an instant; searches the two days before it. */
export async function lastWitnesses(
  { store }: Pick<WitnessServices, 'store'>,
  workspace: string,
  to: number,
): Promise<
  { readonly at: number; readonly nodes: number; readonly witnesses: number; readonly size: number } | undefined
> {
  const events = await store.audit(workspace, {
    type: 'event',
    actors: ['system:audit'],
    from: to - 2 * DAY_MS,
    to,
    limit: 10,
  });
  const found = events.find(({ event }) => event?.type === WITNESSES);
  const { nodes, witnesses, size } = (found?.event?.detail ?? {}) as Record<string, unknown>;
  if (!found || typeof nodes !== 'number' || typeof witnesses !== 'number' || typeof size !== 'number')
    return undefined;
  return { at: found.at, nodes, witnesses, size };
}
