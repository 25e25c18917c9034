import { commitContext } from '../base/commit-context.ts';
import { parseDuration, roughDuration } from '../base/duration.ts';
import { invalidInput, MeshError } from '../base/errors.ts';
import type { CallContext } from '../base/operation.ts';
import { foldName, type RecordDraft } from '../base/record.ts';
import { parseInstant } from '../base/time.ts';
import { writtenRecord } from '../base/written-record.ts';
import { lookUpById } from '../model/find.ts';
import type { EgressRule } from '../model/policy.ts';
import { RESERVED_LABEL_PREFIX } from '../model/presets.ts';
import {
  type AgentRecord,
  DEFAULT_NETWORK,
  NEW_NAME_PATTERN,
  normalizeName,
  type PolicyPreset,
} from '../model/resources.ts';
import { newToken, ruleToken } from '../model/token.ts';
import { ruleTokenName, type TokenRecord, type TokenSpec, tokenDraft, unknownToken } from '../model/token-record.ts';
import type { WorkloadIdentity } from '../model/workload-identity.ts';
import { MAX_JOIN_USES } from '../model/workload-rule.ts';
import type { NetworkServices, StoreCall } from '../state/services.ts';
import { grantLimit, requireWithinLimit } from './grant-limit.ts';
import { requireMayName } from './grants.ts';
import { storedRules } from './stored-rules.ts';
import { tokensOf } from './token-lists.ts';

const DEFAULT_JOIN_MS = 168 * 3_600_000;
const MAX_JOIN_MS = 365 * 86_400_000;
export const DEFAULT_JOIN_USES = 5;

export interface JoinGrants {
  /** When left out the usual number, none for workloads, or as many as the agent that asks may. */
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
  /** Preset that limits its devices; for workloads alone. */
  readonly preset?: PolicyPreset | undefined;
  readonly egress?: readonly EgressRule[] | undefined;
}

export interface NewJoinToken extends JoinGrants {
  readonly name: string;
  /** Duration text; empty for the default. */
  readonly expiry: string;
}

export type JoinTokenCall = CallContext<Pick<NetworkServices, 'store' | 'clock' | 'keys' | 'states' | 'settings'>>;

/**
 * Makes a join token. The answer is the only place where the token itself is ever seen, but for one that asks for an identity:
 * that is a rule for workloads, and no secret.
 *
 * @throws MeshError `conflict` where a rule has the name
 */
export async function generateJoinToken(
  { name, expiry, ...grants }: NewJoinToken,
  context: JoinTokenCall,
): Promise<{ readonly token: string; readonly record: TokenRecord }> {
  const { services, workspace } = context;
  const { keys, store } = services;
  const granted = await grantedSpec(grants, context);
  const spec = await joinTokenSpec(grants, granted, context, ({ now, latest, agentEnd = Number.POSITIVE_INFINITY }) => {
    const longest = Math.min(MAX_JOIN_MS, agentEnd - now);
    return now + lifetimeOf(expiry, Math.min(DEFAULT_JOIN_MS, latest - now), longest);
  });
  const isRule = grants.identity !== undefined;
  const ruleName = isRule ? await freeRuleName(context, name) : name;
  const token = isRule ? ruleToken(workspace, ruleName, keys.controlKeyId) : newToken('join', keys.controlKeyId);
  const draft = isRule ? ruleDraft(token, { ...spec, name: ruleName }) : tokenDraft(token, { ...spec, name });
  const commit = commitContext(context, `made join token ${name}`);
  const done = await store.commit(workspace, [{ op: 'create', record: draft }], commit);
  return { token, record: writtenRecord(done, draft) };
}

/** The record of a fresh rule for workloads. */
export function ruleDraft(token: string, spec: Omit<TokenSpec, 'usedCount'>): RecordDraft<'Token'> {
  return { ...tokenDraft(token, spec), name: ruleTokenName(spec.name) };
}

async function freeRuleName({ services, workspace }: JoinTokenCall, name: string): Promise<string> {
  const normal = normalizeName(name);
  if (!NEW_NAME_PATTERN.test(normal)) {
    const detail = 'A join token for workloads is a rule, whose name is 1 to 63 letters, digits, ".", "_" or "-".';
    throw invalidInput([{ pointer: '/name', detail }], detail);
  }
  if (await services.store.get(workspace, { kind: 'Token', name: ruleTokenName(normal) })) {
    throw new MeshError(
      'conflict',
      `There is a rule ${normal} for workloads: choose another name, revoke that one, or apply a document of the kind WorkloadRule to change it.`,
    );
  }
  return normal;
}

/** When a token may end, ms. */
interface TokenBounds {
  readonly now: number;
  /** With its maker; infinite where that is a person. */
  readonly latest: number;
  /** Where an agent makes it. */
  readonly agentEnd?: number;
}

/**
 * Returns what a join token of this caller holds, but for its name.
 *
 * @param endOf returns when it ends, ms; undefined for never
 * @throws MeshError as `generate_join_token`
 */
export async function joinTokenSpec(
  wanted: JoinGrants,
  granted: GrantedSpec,
  context: JoinTokenCall,
  endOf: (bounds: TokenBounds) => number | undefined,
): Promise<Omit<TokenSpec, 'name' | 'usedCount'>> {
  const { services, workspace, caller } = context;
  const { usageLimit: asked, identity, admits } = wanted;
  const issuer = await issuerOf(context, asked);
  const usual = identity === undefined ? DEFAULT_JOIN_USES : undefined;
  const usageLimit =
    asked ?? (issuer ? Math.min(usual ?? MAX_JOIN_USES, issuer.spec.tokenUses ?? DEFAULT_JOIN_USES) : usual);
  if (admits === true) requireMayAdmit(context, wanted);
  const now = services.clock.now();
  const limit = await grantLimit(services, workspace, caller);
  const agentEnd = issuer && parseInstant(issuer.spec.expiresAt);
  const latest = agentEnd ?? limit ?? Number.POSITIVE_INFINITY;
  const expiresAt = endOf({ now, latest, ...(agentEnd !== undefined && { agentEnd }) });
  requireWithinLimit(expiresAt ?? Number.POSITIVE_INFINITY, limit, now);
  return {
    kind: 'join',
    owner: '',
    ...(expiresAt !== undefined && { expiresAt }),
    ...(usageLimit !== undefined && { usageLimit }),
    createdBy: caller.subject,
    ...granted,
    ...(issuer && { issuedBy: issuer.uid }),
  };
}

type GrantedSpec = Pick<
  TokenSpec,
  'labels' | 'network' | 'deviceLabels' | 'ephemeral' | 'identity' | 'deviceTtlMs' | 'admits' | 'preset' | 'egress'
>;

/**
 * Returns what the devices of a join token get, whoever makes it.
 *
 * @param made networks that are made together with it
 * @throws MeshError `invalid_input`, and `forbidden` for who names networks or peers and may not read them
 */
export async function grantedSpec(
  wanted: JoinGrants,
  context: JoinTokenCall,
  made: ReadonlySet<string> = new Set(),
): Promise<GrantedSpec> {
  const { services, workspace, caller } = context;
  const { labels, network = DEFAULT_NETWORK, deviceLabels, identity, preset, egress = [], deviceTtl } = wanted;
  const isEphemeral = wanted.ephemeral === true || identity !== undefined;
  requirePresetOfWorkloads(wanted);
  if (identity) requireCluster(services, identity);
  const reserved = Object.keys(labels).find((key) => key.startsWith(RESERVED_LABEL_PREFIX));
  if (reserved !== undefined) {
    const detail = `Labels that begin with ${RESERVED_LABEL_PREFIX} are set by the control plane alone.`;
    throw invalidInput([{ pointer: `/labels/${reserved.replaceAll('/', '~1')}`, detail }], detail);
  }
  if (network !== DEFAULT_NETWORK) requireMayName(caller, workspace, 'a network');
  const known = await services.store.get(workspace, { kind: 'MeshNetwork', name: network });
  if (!known && !made.has(network)) {
    const detail = `There is no network ${network} in this workspace.`;
    throw invalidInput([{ pointer: '/network', detail }], detail);
  }
  return {
    labels,
    network: known?.name ?? network,
    ...(deviceLabels !== undefined && deviceLabels.length > 0 && { deviceLabels }),
    ...(isEphemeral && { ephemeral: true as const }),
    ...(identity && { identity }),
    ...(deviceTtl !== undefined && {
      deviceTtlMs: lifetimeOf(deviceTtl, DEFAULT_JOIN_MS, MAX_JOIN_MS, 'deviceTtl'),
    }),
    ...(wanted.admits === true && { admits: true as const }),
    ...(preset && { preset }),
    ...(egress.length > 0 && { egress: await storedRules(context, egress, '/egress') }),
  };
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

/** @throws MeshError `invalid_input` for a preset of devices of people, and for an egress that no preset gives */
function requirePresetOfWorkloads({ identity, preset, egress = [] }: JoinGrants): void {
  if (preset !== undefined && identity === undefined) {
    const detail = 'Only workloads that prove an identity are held to a preset: give identity too.';
    throw invalidInput([{ pointer: '/preset', detail }], detail);
  }
  if (egress.length === 0 || preset === 'sandboxed') return;
  const detail = 'egress is what the preset sandboxed gives: give preset too, or write a policy.';
  throw invalidInput([{ pointer: '/egress', detail }], detail);
}

/** @throws MeshError `invalid_input` for a cluster that the installation does not know */
function requireCluster({ settings }: JoinTokenCall['services'], { tokenReview }: WorkloadIdentity): void {
  const known = settings.clusters ?? [];
  if (tokenReview === undefined || known.includes(tokenReview)) return;
  const there = known.length === 0 ? 'it names none' : `it names ${known.join(', ')}`;
  const detail = `There is no cluster ${tokenReview} in app.kubernetes of config.yaml: ${there}. Add it there, or give identity.keys.`;
  throw invalidInput([{ pointer: '/identity/tokenReview', detail }], detail);
}

/** @throws MeshError `invalid_input` for devices of people, `forbidden` for who may not let devices in */
function requireMayAdmit({ caller, workspace }: CallContext<object>, { identity }: JoinGrants): void {
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
 * @param idOrName a name where one join token alone has it
 * @throws MeshError `not_found`, `conflict`
 */
export async function revokeJoinToken(idOrName: string, context: StoreCall): Promise<void> {
  const { store } = context.services;
  const token = await joinTokenOf(idOrName, context);
  const commit = commitContext(context, `revoked join token ${token.spec.name}`);
  await store.commit(context.workspace, [{ op: 'delete', key: { kind: 'Token', name: token.name } }], commit);
}

/** @throws MeshError `not_found`, `conflict` */
async function joinTokenOf(idOrName: string, { services, workspace }: StoreCall): Promise<TokenRecord> {
  const byId = await services.store.getById(workspace, 'Token', idOrName);
  if (byId?.spec.kind === 'join') return byId;
  const tokens = await tokensOf(services, workspace, 'join');
  const [token, ...others] = tokens.filter(({ spec }) => foldName(spec.name) === foldName(idOrName));
  if (!token) throw new MeshError('not_found', `There is no join token ${idOrName} in this workspace.`);
  if (others.length === 0) return token;
  const why = `${others.length + 1} join tokens have the name ${token.spec.name}: give the id of one (list_join_tokens).`;
  throw new MeshError('conflict', why);
}
