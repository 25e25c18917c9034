import { commitContext } from '../base/commit-context.ts';
import { parseDuration, roughDuration } from '../base/duration.ts';
import { invalidInput, MeshError } from '../base/errors.ts';
import type { CallContext } from '../base/operation.ts';
import { parseInstant } from '../base/time.ts';
import { writtenRecord } from '../base/written-record.ts';
import { lookUpById } from '../model/find.ts';
import { RESERVED_LABEL_PREFIX } from '../model/presets.ts';
import { type AgentRecord, DEFAULT_NETWORK } from '../model/resources.ts';
import { controlKeyFingerprint, newToken } from '../model/token.ts';
import { type TokenRecord, tokenDraft, unknownToken } from '../model/token-record.ts';
import type { WorkloadIdentity } from '../model/workload-identity.ts';
import type { NetworkServices, StoreCall } from '../state/services.ts';
import { grantLimit, requireWithinLimit } from './grant-limit.ts';
import { requireMayName } from './grants.ts';

const DEFAULT_JOIN_MS = 168 * 3_600_000;
const MAX_JOIN_MS = 365 * 86_400_000;
export const DEFAULT_JOIN_USES = 5;
export const MAX_JOIN_USES = 10_000;

export interface NewJoinToken {
  readonly name: string;
  /** Duration text; empty for the default. */
  readonly expiry: string;
  /** The usual number when left out, or as many as the agent that asks may. */
  readonly usageLimit?: number | undefined;
  readonly labels: Readonly<Record<string, string>>;
  readonly network?: string | undefined;
  /** Labels that a device may ask for. */
  readonly deviceLabels?: readonly string[] | undefined;
  readonly ephemeral?: boolean | undefined;
  /** Workloads that alone may use it. Their devices are ephemeral. */
  readonly identity?: WorkloadIdentity | undefined;
  /** Duration text: how long its devices last. */
  readonly deviceTtl?: string | undefined;
  /** Its devices need no approval; for workloads alone. */
  readonly admits?: boolean | undefined;
}

/** Makes a join token. The answer is the only place where the token itself is ever seen. */
export async function generateJoinToken(
  wanted: NewJoinToken,
  context: CallContext<Pick<NetworkServices, 'store' | 'clock' | 'keys' | 'states'>>,
): Promise<{ readonly token: string; readonly record: TokenRecord }> {
  const { services, workspace, caller } = context;
  const { name, expiry, usageLimit: asked, labels, network = DEFAULT_NETWORK, deviceLabels, identity } = wanted;
  const isEphemeral = wanted.ephemeral === true || identity !== undefined;
  const issuer = await issuerOf(context, asked);
  const usual = identity === undefined ? DEFAULT_JOIN_USES : MAX_JOIN_USES;
  const usageLimit = asked ?? Math.min(usual, issuer ? (issuer.spec.tokenUses ?? DEFAULT_JOIN_USES) : usual);
  const isAdmitting = wanted.admits === true;
  if (isAdmitting) requireMayAdmit(context, wanted);
  const now = services.clock.now();
  const limit = await grantLimit(services, workspace, caller);
  const ends = issuer ? parseInstant(issuer.spec.expiresAt) : (limit ?? Number.POSITIVE_INFINITY);
  const longest = issuer ? Math.min(MAX_JOIN_MS, ends - now) : MAX_JOIN_MS;
  const expiresAt = now + lifetimeOf(expiry, Math.min(DEFAULT_JOIN_MS, ends - now), longest);
  requireWithinLimit(expiresAt, limit, now);
  const reserved = Object.keys(labels).find((key) => key.startsWith(RESERVED_LABEL_PREFIX));
  if (reserved !== undefined) {
    const detail = `Labels that begin with ${RESERVED_LABEL_PREFIX} are set by the control plane alone.`;
    throw invalidInput([{ pointer: `/labels/${reserved.replaceAll('/', '~1')}`, detail }], detail);
  }
  if (network !== DEFAULT_NETWORK) requireMayName(caller, workspace, 'a network');
  const known = await services.store.get(workspace, { kind: 'MeshNetwork', name: network });
  if (!known) {
    const detail = `There is no network ${network} in this workspace.`;
    throw invalidInput([{ pointer: '/network', detail }], detail);
  }
  const token = newToken('join', controlKeyFingerprint(services.keys.controlKey));
  const createdBy = caller.subject;
  const draft = tokenDraft(token, {
    kind: 'join',
    name,
    owner: '',
    expiresAt,
    usageLimit,
    createdBy,
    labels,
    network: known.name,
    ...(deviceLabels !== undefined && deviceLabels.length > 0 && { deviceLabels }),
    ...(isEphemeral && { ephemeral: true as const }),
    ...(identity && { identity }),
    ...(wanted.deviceTtl !== undefined && {
      deviceTtlMs: lifetimeOf(wanted.deviceTtl, DEFAULT_JOIN_MS, MAX_JOIN_MS, 'deviceTtl'),
    }),
    ...(isAdmitting && { admits: true as const }),
    ...(issuer && { issuedBy: issuer.uid }),
  });
  const commit = commitContext(context, `made join token ${name}`);
  const done = await services.store.commit(workspace, [{ op: 'create', record: draft }], commit);
  return { token, record: writtenRecord(done, draft) };
}

/**
 * The agent that makes the token; undefined for a person. Its token ends with it and has few uses.
 *
 * @throws MeshError `forbidden` for more uses than a person gave it
 */
async function issuerOf(
  { services, workspace, caller }: CallContext<Pick<NetworkServices, 'states'>>,
  usageLimit = 1,
): Promise<AgentRecord | undefined> {
  if (caller.kind !== 'agent') return undefined;
  const { agents } = await services.states.current(workspace);
  const agent = lookUpById(agents, caller.id);
  if (!agent) throw unknownToken();
  const { tokenUses = DEFAULT_JOIN_USES } = agent.spec;
  if (usageLimit <= tokenUses) return agent;
  throw new MeshError(
    'forbidden',
    `A join token of the agent ${agent.name} has at most ${tokenUses} uses: ask for fewer, or ask a person.`,
  );
}

/** @throws MeshError `invalid_input` for devices of people, `forbidden` for who may not let devices in */
function requireMayAdmit({ caller, workspace }: CallContext<object>, { identity }: NewJoinToken): void {
  if (identity === undefined) {
    const detail = 'Only workloads that prove an identity are let in without an approval: give identity too.';
    throw invalidInput([{ pointer: '/admits', detail }], detail);
  }
  if (caller.scopesIn(workspace).has('peers:approve')) return;
  const detail = 'A token whose devices need no approval is made by who may approve devices: scope peers:approve.';
  throw new MeshError('forbidden', detail, { scope: 'peers:approve' });
}

/** Milliseconds that a token is asked to live. @throws MeshError `invalid_input` on `/expiry`, or the field that is named */
export function lifetimeOf(expiry: string, standard: number, maximum: number, field = 'expiry'): number {
  const ms = expiry.trim() === '' ? standard : parseDuration(expiry.trim());
  if (ms !== undefined && ms >= 1_000 && ms <= maximum) return ms;
  const detail = `${field} must be a duration such as 30m or 24h, from 1s to ${roughDuration(maximum)}, or "" for ${roughDuration(standard)}.`;
  throw invalidInput([{ pointer: `/${field}`, detail }], detail);
}

/**
 * Revokes a join token. Peers that came with it stay.
 *
 * @throws MeshError `not_found`
 */
export async function revokeJoinToken(id: string, context: StoreCall): Promise<void> {
  const { store } = context.services;
  const token = await store.getById(context.workspace, 'Token', id);
  if (token?.spec.kind !== 'join') {
    throw new MeshError('not_found', `There is no join token ${id} in this workspace.`);
  }
  const commit = commitContext(context, `revoked join token ${token.spec.name}`);
  await store.commit(context.workspace, [{ op: 'delete', key: { kind: 'Token', name: token.name } }], commit);
}
