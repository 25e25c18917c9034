import { commitContext } from '../base/commit-context.ts';
import { formatDuration, parseDuration } from '../base/duration.ts';
import { invalidInput, MeshError } from '../base/errors.ts';
import type { CallContext } from '../base/operation.ts';
import type { Op } from '../base/ports.ts';
import { requireSession } from '../base/require-session.ts';
import { PERSON_ONLY_SCOPES, type Scope } from '../base/scope.ts';
import { serializedFirst } from '../base/serialize.ts';
import { writtenRecord } from '../base/written-record.ts';
import { lookUpById } from '../model/find.ts';
import { newToken } from '../model/token.ts';
import { isSpent, type TokenRecord, tokenDraft } from '../model/token-record.ts';
import type { NetworkServices, PeerCall } from '../state/services.ts';
import { accountById } from './accounts.ts';
import { endFamilies, nextFamilies } from './end-agents.ts';
import { expandScopes, isScope, requireWithin } from './grants.ts';
import { lifetimeOf } from './join-tokens.ts';

const DEFAULT_API_TOKEN_MS = 90 * 86_400_000;
const MAX_API_TOKEN_MS = 365 * 86_400_000;
const MIN_GRANT_MS = 1_000;

/** Default scopes of a token for an MCP client: it reads, plans and applies. */
const DEFAULT_SCOPES: readonly Scope[] = ['network:read', 'snapshots:read', 'intents:plan', 'intents:apply'];

export interface NewApiToken {
  readonly name: string;
  /** Scopes, or roles that stand for theirs. */
  readonly scopes?: readonly string[] | undefined;
  /** Duration text; empty for the default. */
  readonly expiry: string;
  /** Duration text: longest life of what is made with it. Absent: what is made with it ends with it at the latest. */
  readonly maxGrant?: string | undefined;
}

/** Makes an API token for the caller in one workspace, with no more than the caller holds there. */
export async function createApiToken(
  { name, scopes, expiry, maxGrant }: NewApiToken,
  context: CallContext<Pick<NetworkServices, 'store' | 'clock'>>,
): Promise<{ readonly token: string; readonly record: TokenRecord }> {
  const caller = requireSession(context.caller);
  const { services, workspace } = context;
  const held = caller.scopesIn(workspace);
  const granted = scopes ? grantedOf(scopes, held) : DEFAULT_SCOPES.filter((scope) => held.has(scope));
  const expiresAt = services.clock.now() + lifetimeOf(expiry, DEFAULT_API_TOKEN_MS, MAX_API_TOKEN_MS);
  const account = await accountById(services, caller.id);
  if (!account) throw new MeshError('unauthenticated', 'This account was removed.');
  const token = newToken('api');
  const spec = {
    kind: 'api',
    name,
    owner: account.uid,
    scopes: granted,
    expiresAt,
    ...(maxGrant !== undefined && { maxGrant: grantOf(maxGrant) }),
    createdBy: caller.subject,
  } as const;
  const draft = tokenDraft(token, { ...spec, epoch: account.spec.epoch });
  const commit = commitContext(context, `made API token ${name}`);
  const done = await services.store.commit(workspace, [{ op: 'create', record: draft }], commit);
  return { token, record: writtenRecord(done, draft) };
}

function grantedOf(names: readonly string[], held: ReadonlySet<Scope>): readonly Scope[] {
  const personal = names.filter((name) => isScope(name) && PERSON_ONLY_SCOPES.has(name));
  if (personal.length > 0) {
    const detail = `${personal.join(', ')} is for logged-in persons only: no token carries it.`;
    throw invalidInput([{ pointer: '/scopes', detail }], detail);
  }
  const wanted = [...expandScopes(names)];
  requireWithin(wanted, held);
  return wanted;
}

/** @throws MeshError `invalid_input` on `/maxGrant` */
function grantOf(text: string): number {
  const ms = parseDuration(text.trim());
  if (ms !== undefined && ms >= MIN_GRANT_MS && ms <= MAX_API_TOKEN_MS) return ms;
  const detail = `maxGrant must be a duration such as 24h, from ${formatDuration(MIN_GRANT_MS)} to ${formatDuration(MAX_API_TOKEN_MS)}.`;
  throw invalidInput([{ pointer: '/maxGrant', detail }], detail);
}

/** Names of what ended with an API token. */
export interface TokenCascade {
  readonly agents: readonly string[];
  readonly joinTokens: readonly string[];
}

/**
 * Revokes an API token of the caller, and in the same commit what was made with it: agents with all that ends with them, and join
 * tokens that have uses left. Devices that joined with those stay. An API token may end itself and no other.
 *
 * @throws MeshError `not_found`
 */
export async function revokeApiToken(id: string, context: PeerCall): Promise<TokenCascade> {
  const { services, workspace } = context;
  const { store, states } = services;
  const madeWith = async () => (await store.list(workspace, 'Token')).items.filter(({ spec }) => spec.madeWith === id);
  const ended = { agents: [] as string[], joinTokens: [] as string[] };
  for (let isRevoked = false; ; isRevoked = true) {
    const end = async (): Promise<boolean> => {
      const token = isRevoked ? undefined : await ownToken(id, context);
      const made = await madeWith();
      const joins = made.filter(({ spec }) => spec.kind === 'join' && !isSpent(spec));
      const owners = hasAgents ? made.flatMap(({ spec }) => (spec.kind === 'agt' ? [spec.owner] : [])) : [];
      await store.caughtUp([workspace]);
      const state = await states.current(workspace);
      const roots = owners.flatMap((owner) => lookUpById(state.agents, owner) ?? []);
      const ending = nextFamilies(state, roots, Number.POSITIVE_INFINITY);
      const going = [...joins, ...(token ? [token] : [])];
      // Looked at once more after the token has gone, for what was made as it went.
      if (going.length + ending.length === 0) return true;
      const besides = going.map(({ kind, name }): Op => ({ op: 'delete', key: { kind, name } }));
      const why = commitContext(context, `revoked API token ${token?.spec.name ?? id}`);
      await endFamilies(services, state, { ending, phase: 'Revoked', context: { ...why, decided: 'now' }, besides });
      ended.agents.push(...ending.map(({ name }) => name));
      ended.joinTokens.push(...joins.map(({ spec }) => spec.name));
      return false;
    };
    // A token without agents waits for no turn: what it asked for may be on its way.
    const hasAgents = (await madeWith()).some(({ spec }) => spec.kind === 'agt');
    const isDone = hasAgents ? await serializedFirst(store, workspace, end) : await end();
    if (isDone) return ended;
  }
}

/** @throws MeshError `not_found`, `forbidden` */
async function ownToken(id: string, { services, workspace, caller }: PeerCall): Promise<TokenRecord> {
  const token = await services.store.getById(workspace, 'Token', id);
  if (token?.spec.kind !== 'api' || token.spec.owner !== caller.id) {
    throw new MeshError('not_found', `There is no API token ${id} in this workspace.`);
  }
  if (caller.tokenId !== id) requireSession(caller);
  return token;
}
