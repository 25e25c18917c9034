import { newId, SYSTEM_WORKSPACE } from '../base/ids.ts';
import type { CommitContext } from '../base/ports.ts';
import type { Kind } from '../base/record.ts';
import { serialized } from '../base/serialize.ts';
import { removePeers } from '../peers/peers.ts';
import { isOpen } from '../state/agent-tree.ts';
import type { PeerServices } from '../state/services.ts';
import { endAgents } from './end-agents.ts';

/** Records removed in one commit. */
const BATCH = 200;
/** A workspace is written before it is in the directory: a younger one may be about to be named there. */
const MADE_MS = 60 * 60_000;

/** Kinds of records that mean nothing without the workspace, beside peers and agents. Past records stay until retention. */
const REMOVED_KINDS = [
  'Webhook',
  'WebhookDelivery',
  'Member',
  'Token',
  'Review',
  'ReviewPage',
  'ReviewDue',
  'MeshPolicy',
  'PolicyAssertion',
  'MeshNetwork',
] as const satisfies readonly Kind[];

/** Ends all that is in a workspace that is in the directory no more. What was done before a crash is not done again. */
export async function emptyWorkspace(services: PeerServices, workspace: string, why: CommitContext): Promise<void> {
  const context = { ...why, decided: 'now' } as const;
  await whileSome(services, workspace, () => removeSomePeers(services, workspace, context));
  await endAgents(services, workspace, ({ agents }) => [...agents.values()].filter(isOpen), 'Revoked', context);
  for (const kind of REMOVED_KINDS)
    await whileSome(services, workspace, () => removeSome(services, workspace, kind, context));
}

/**
 * Empties a workspace that nobody can name: it was deleted, or never came to be, and the call was cut short; or a device
 * registered at the very moment at which it was deleted.
 */
export async function emptyIfGone(services: PeerServices, workspace: string): Promise<void> {
  const { store, clock } = services;
  const kept = await store.keptFrom(workspace);
  if (!kept || kept.at + MADE_MS > clock.now()) return;
  if (await store.getById(SYSTEM_WORKSPACE, 'Workspace', workspace)) return;
  const context = { actor: 'system:workspaces', reason: 'the workspace is gone', requestId: newId('r') };
  await emptyWorkspace(services, workspace, context);
}

async function whileSome({ store }: PeerServices, workspace: string, work: () => Promise<number>): Promise<void> {
  while ((await serialized(store, workspace, work)) > 0);
}

async function removeSomePeers(services: PeerServices, workspace: string, context: CommitContext): Promise<number> {
  const state = await services.states.current(workspace);
  const peers = [...state.peers.values()].slice(0, BATCH);
  if (peers.length > 0) await removePeers(services, state, peers, context);
  return peers.length;
}

async function removeSome(
  { store }: PeerServices,
  workspace: string,
  kind: (typeof REMOVED_KINDS)[number],
  context: CommitContext,
): Promise<number> {
  const { items } = await store.list(workspace, kind, { limit: BATCH });
  const ops = items.map(({ name }) => ({ op: 'delete', key: { kind, name } }) as const);
  if (ops.length > 0) await store.commit(workspace, ops, context);
  return ops.length;
}
