import { MeshError } from '../base/errors.ts';
import { newId } from '../base/ids.ts';
import type { Op } from '../base/ports.ts';
import { draftOf, type NoStatus, type RecordDraft, type StoredRecord } from '../base/record.ts';
import type { Scope } from '../base/scope.ts';
import type { OAuthGrant } from './oauth.ts';
import type { EgressRule } from './policy.ts';
import type { PolicyPreset } from './resources.ts';
import { type TokenKind, tokenKey } from './token.ts';
import type { WorkloadIdentity } from './workload-identity.ts';

/** The stored part of a token: everything but the token itself. Instants are milliseconds. */
export interface TokenSpec {
  readonly kind: TokenKind;
  /** As its maker called it; for a device or agent token the name of its owner. */
  readonly name: string;
  /** Uid of whom it speaks for: Account (api), MeshPeer (dev), AgentIdentity (agt, dlg, oat). Empty for a join token, until an account takes it over from its maker. */
  readonly owner: string;
  /** Scopes of an API token. An agent's scopes are in its AgentIdentity. */
  readonly scopes?: readonly Scope[];
  /** Absent on a device token, which lives with its peer, on the grant of an OAuth client, which lives with its agent, and on a rule without an end. */
  readonly expiresAt?: number;
  readonly usageLimit?: number;
  readonly usedCount: number;
  /** When its last use was spent. */
  readonly spentAt?: number;
  /** Actor, such as `user:ada`. */
  readonly createdBy: string;
  /** Labels and network of the peers that a join token makes. */
  readonly labels: Readonly<Record<string, string>>;
  readonly network?: string;
  /** Labels that a device may ask for with a join token, as `key=value`, or `key` for any value. */
  readonly deviceLabels?: readonly string[];
  /** Set for a join token whose peers are deleted once they have been offline for a while. */
  readonly ephemeral?: true;
  /** Which workloads may use a join token, by OIDC tokens of their own: it is no secret then. */
  readonly identity?: WorkloadIdentity;
  /** OIDC tokens that workloads joined with, by digest, and when each ends. */
  readonly spentIdentities?: Readonly<Record<string, number>>;
  /** How long the devices last that join with it, in milliseconds. */
  readonly deviceTtlMs?: number;
  /** Set for a join token whose devices need no approval. */
  readonly admits?: true;
  /** Preset to which the workloads are held that join with it. */
  readonly preset?: PolicyPreset;
  /** What workloads with the preset `sandboxed` may reach. */
  readonly egress?: readonly EgressRule[];
  /** The uid of the agent that made a join token. */
  readonly issuedBy?: string;
  /** Uid of the API token that made or renewed this join token or root agent's token, which ends when that is revoked. */
  readonly madeWith?: string;
  /** Longest life of agents and tokens made with this API token, ms. Absent: they end with it at the latest. */
  readonly maxGrant?: number;
  /** The account's `epoch` when an API token was made. */
  readonly epoch?: number;
  /** SHA-256 in hex of the secret with which the device of a device token signs in to the bus. */
  readonly busDigest?: string;
  /** Grant of an OAuth client: the code or token that it may exchange, and the access token that is out. */
  readonly oauth?: OAuthGrant;
}

declare module '../base/record.ts' {
  interface RecordTypes {
    Token: { spec: TokenSpec; status: NoStatus };
  }
}

export type TokenRecord = StoredRecord<'Token'>;

/**
 * The name of a token's record. Device, agent and delegate tokens are one per owner and found by it;
 * join and API tokens are many and named by their own uid.
 */
export function tokenName(kind: TokenKind, id: string): string {
  return `${kind}.${id}`;
}

/** The name of a join token that has no use left, outside the list of join tokens. */
export function usedTokenName(id: string): string {
  return `used.${id}`;
}

const RULE_PREFIX = tokenName('join', 'rule.');

/** The name of the join token that is the rule of some workloads: one for each name, among the join tokens. */
export function ruleTokenName(name: string): string {
  return `${RULE_PREFIX}${name}`;
}

/** Tells whether a join token is a rule for workloads, which documents make and change by its name. */
export function isWorkloadRule({ name }: Pick<TokenRecord, 'name'>): boolean {
  return name.startsWith(RULE_PREFIX);
}

/** The record of a fresh token, to be created in the commit that makes what it belongs to. */
export function tokenDraft(
  token: string,
  spec: Omit<TokenSpec, 'usedCount' | 'labels'> & Partial<Pick<TokenSpec, 'labels'>>,
): RecordDraft<'Token'> {
  const uid = newId('tok');
  return {
    kind: 'Token',
    name: tokenName(spec.kind, spec.owner === '' || spec.kind === 'api' ? uid : spec.owner),
    uid,
    labels: {},
    annotations: {},
    spec: { labels: {}, ...spec, usedCount: 0 },
    status: {},
    unique: [tokenKey(token)],
  };
}

/** Returns true if a token has no uses left. */
export function isSpent({ usageLimit, usedCount }: TokenSpec): boolean {
  return usageLimit !== undefined && usedCount >= usageLimit;
}

/** The one answer for a token that is not there, so that a removed one and an invented one look the same. */
export function unknownToken(): MeshError {
  return new MeshError('unauthenticated', 'This token is unknown or removed: ask for a new one.');
}

/** The answer for a token whose time is over. */
export function expiredToken(): MeshError {
  return new MeshError('unauthenticated', 'This token has expired: ask for a new one.');
}

/**
 * Returns the op for one use of a token, to be committed together with the records that the use creates. The revision makes it
 * exact: of concurrent uses one commits, and the others meet a conflict, read the token again and retry.
 *
 * @throws MeshError `unauthenticated` when no use is left.
 */
export function spendOp(token: TokenRecord, now: number): Op {
  if (isSpent(token.spec)) {
    throw new MeshError('unauthenticated', 'This token is used up: ask for a new one.');
  }
  const { revision } = token;
  const spec = { ...token.spec, usedCount: token.spec.usedCount + 1 };
  return {
    op: 'update',
    record: { ...draftOf(token), spec: isSpent(spec) ? { ...spec, spentAt: now } : spec },
    revision,
  };
}
