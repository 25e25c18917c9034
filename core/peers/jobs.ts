import { newId } from '../base/ids.ts';
import { eachLedWorkspace, SOLE_LEADER } from '../base/leader.ts';
import type { Change, Commit, CommitContext, Op } from '../base/ports.ts';
import type { Kind } from '../base/record.ts';
import { serialized } from '../base/serialize.ts';
import { hasEnded, parseInstant } from '../base/time.ts';
import { afterRenumbering } from '../changes/renumber.ts';
import { beginOf, endOf } from '../model/policy-match.ts';
import { WORKLOAD_LABEL } from '../model/presets.ts';
import { readSetOn } from '../state/read-set.ts';
import type { PeerServices } from '../state/services.ts';
import { removeEphemeral } from './ephemeral.ts';
import { removePeers } from './peers.ts';
import { sweepWorkspace } from './presence.ts';

/** Work that is due at instants. `run` does what is due and answers when something is due next, ms. */
export interface NetworkJob {
  readonly name: string;
  run(): Promise<number | undefined>;
  readonly wakeOn: (commit: Commit) => boolean;
}

type WorkspaceJob = (services: PeerServices, workspace: string) => Promise<number | undefined>;

/** Records removed in one commit; the rest follow at once. */
const BATCH = 200;

/** Nodes that come online one after the other do not have all others looked at each time; none is silent so soon. */
const SWEEP_PAUSE_MS = 5_000;

/** Returns the jobs that the network needs as time passes. */
export function networkJobs(services: PeerServices, leading = SOLE_LEADER): readonly NetworkJob[] {
  const since = services.clock.now();
  let sweptAt = since;
  const comesOnline = (change: Change) =>
    isWritten('Presence')(change) && services.clock.now() - sweptAt >= SWEEP_PAUSE_MS;
  const over = (name: string, wakesOn: (change: Change) => boolean, work: WorkspaceJob): NetworkJob => ({
    name,
    wakeOn: ({ changes }) => changes.some(wakesOn),
    run: () => eachLedWorkspace(leading, services, (workspace, led) => work(led, workspace)),
  });
  return [
    over('expire peers', mayEnd('MeshPeer'), expirePeers),
    over('expire policies', mayEnd('MeshPolicy'), expirePolicies),
    over('sweep presence', comesOnline, (led, workspace) => {
      sweptAt = services.clock.now();
      return sweepWorkspace(led, workspace, since);
    }),
    over('remove ephemeral peers', mayGo, (led, workspace) => removeEphemeral(led, workspace, since)),
    over('remove presets', hadPreset, removePresets),
    over('free addresses', isWritten('AddressRest'), freeAddresses),
    over('end renumberings', hasFormer, endRenumberings),
  ];
}

/** Deletes the peers whose time is over. */
async function expirePeers(services: PeerServices, workspace: string): Promise<number | undefined> {
  const { store, states, clock } = services;
  return serialized(store, workspace, async () => {
    const state = await states.current(workspace);
    const now = clock.now();
    const ended = [...state.peers.values()].filter((peer) => hasEnded(peer.spec, now));
    const batch = ended.slice(0, BATCH);
    if (batch.length > 0) await removePeers(services, state, batch, because('expiry', 'the time of the peer is over'));
    if (ended.length > batch.length) return now;
    return next([...state.peers.values()].map(({ spec }) => spec.expiresAt).map(instant), now);
  });
}

/** How long nodes keep a policy that has ended for others that are about to begin, ms: then those may begin never. */
const HANDOVER_MS = 60_000;
const HANDOVER_RETRY_MS = 1_000;

/**
 * Deletes the policies that have ended; they counted for nothing from their instant on. Nodes hear of their end by this, so
 * that it waits for what begins then: nothing is open between a DENY that ends and one that begins at the same instant.
 */
async function expirePolicies(services: PeerServices, workspace: string): Promise<number | undefined> {
  const { store, states, clock } = services;
  return serialized(store, workspace, async () => {
    const { policies, waiting } = await states.current(workspace);
    const now = clock.now();
    const isBeginning = [...waiting.values()].some(({ spec }) => beginOf(spec) <= now);
    const over = [...policies.values()].filter(({ spec }) => hasEnded(spec, now));
    const ended = over.filter(({ spec }) => !isBeginning || !(endOf(spec) > now - HANDOVER_MS));
    const ops = ended
      .slice(0, BATCH)
      .map(({ name, revision }): Op => ({ op: 'delete', key: { kind: 'MeshPolicy', name }, revision }));
    if (ops.length > 0) await store.commit(workspace, ops, because('expiry', 'the time of the policy is over'));
    if (ended.length > ops.length) return now;
    if (over.length > ended.length) return now + HANDOVER_RETRY_MS;
    return next([...policies.values()].map(({ spec }) => spec.expiresAt).map(instant), now);
  });
}

/** Deletes the presets of workloads of which none is left. One that joins at the same moment has the commit fail. */
async function removePresets(services: PeerServices, workspace: string): Promise<undefined> {
  const { store, states } = services;
  await serialized(store, workspace, async () => {
    const state = await states.current(workspace);
    const presets = [...state.policies.values()].filter(({ labels }) => labels[WORKLOAD_LABEL] !== undefined);
    if (presets.length === 0) return;
    const held = new Set([...state.peers.values()].map(({ labels }) => labels[WORKLOAD_LABEL]));
    const ops = presets
      .filter(({ labels }) => !held.has(labels[WORKLOAD_LABEL]))
      .map(({ name, revision }): Op => ({ op: 'delete', key: { kind: 'MeshPolicy', name }, revision }));
    if (ops.length === 0) return;
    const context = because('presets', 'no workload of the preset is left');
    await store.commit(workspace, ops, { ...context, readSet: readSetOn(state, ['MeshPeer']) });
  });
  return undefined;
}

/** Forgets the quarantines that are over, so that they do not pile up where addresses are not given again. */
async function freeAddresses(services: PeerServices, workspace: string): Promise<number | undefined> {
  const { store, states, clock } = services;
  return serialized(store, workspace, async () => {
    const { quarantine } = await states.current(workspace);
    const now = clock.now();
    const ops: Op[] = [];
    // They stand in the order in which they end; one behind another that ends later waits with it.
    for (const { name, spec, revision } of quarantine.values()) {
      if (spec.until > now || ops.length === BATCH) break;
      ops.push({ op: 'delete', key: { kind: 'AddressRest', name }, revision });
    }
    if (ops.length > 0)
      await store.commit(workspace, ops, because('addresses', 'the quarantine of the address is over'));
    const [first] = (await states.current(workspace)).quarantine.values();
    return first?.spec.until;
  });
}

/** Ends what a renumbering left: first the old addresses, then, once no node knows them, the claim to their block. */
async function endRenumberings(services: PeerServices, workspace: string): Promise<number | undefined> {
  const { store, states, clock } = services;
  return serialized(store, workspace, async () => {
    const now = clock.now();
    const ops = [...(await states.current(workspace)).networks.values()].flatMap(
      (network) => afterRenumbering(network, now) ?? [],
    );
    if (ops.length > 0)
      await store.commit(
        workspace,
        ops,
        because('addresses', 'the time of the addresses before a renumbering is over'),
      );
    const { networks } = await states.current(workspace);
    return next(
      [...networks.values()].map(({ status }) => instant(status.former?.until)),
      now,
    );
  });
}

const isWritten =
  (kind: Kind) =>
  ({ type, record }: Change) =>
    type !== 'deleted' && record.kind === kind;

/** A record without an end gives the job nothing to do, and to look through all others has its price. */
const mayEnd = (kind: Kind) => (change: Change) =>
  isWritten(kind)(change) && (change.record.spec as { expiresAt?: unknown }).expiresAt !== undefined;

/** A workload that went. */
const hadPreset = ({ type, record }: Change) =>
  type === 'deleted' && record.kind === 'MeshPeer' && record.labels[WORKLOAD_LABEL] !== undefined;

const hasFormer = (change: Change) =>
  isWritten('MeshNetwork')(change) && (change.record.status as { former?: unknown }).former !== undefined;

/** An ephemeral peer that came, or one that went offline. */
const mayGo = (change: Change) =>
  (isWritten('MeshPeer')(change) && (change.record.status as { ephemeral?: true }).ephemeral === true) ||
  (isWritten('Presence')(change) && (change.record.spec as { online?: boolean }).online === false);

function instant(text: string | undefined): number {
  return text === undefined ? Number.POSITIVE_INFINITY : parseInstant(text);
}

function next(instants: readonly number[], now: number): number | undefined {
  const earliest = instants.filter((at) => at > now).reduce((a, b) => Math.min(a, b), Number.POSITIVE_INFINITY);
  return earliest === Number.POSITIVE_INFINITY ? undefined : earliest;
}

function because(job: string, reason: string): CommitContext {
  return { actor: `system:${job}`, reason, requestId: newId('r') };
}
