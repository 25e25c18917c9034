import { createHash } from 'node:crypto';
import type { Scope } from '../base/scope.ts';
import type { EgressRule } from './policy.ts';
import type { PolicyPreset } from './resources.ts';

/** Another authorization server than the own one, whose access tokens count at /mcp (docs/oauth.md#another-authorization-server). */
export interface AuthorizationServer {
  /** Its identifier, exactly as its tokens have it. It is one of the issuers that sign people in. */
  readonly issuer: string;
  readonly grants: readonly AgentGrant[];
  /** Hosts, addresses and CIDRs that are not on the internet and its keys are fetched from all the same. */
  readonly allow: readonly string[];
}

/** Gives those whose claim is, or contains, a value an agent for each of their clients. */
export interface AgentGrant {
  readonly claim: string;
  readonly value: string;
  /** Slug of the workspace. */
  readonly workspace: string;
  readonly scopes: readonly Scope[];
  /** Duration text. */
  readonly ttl: string;
  readonly policyPreset: PolicyPreset;
  readonly reach: readonly EgressRule[];
}

/** What a grant lets an agent do. */
export type GrantedAgent = Omit<AgentGrant, 'claim' | 'value' | 'workspace'>;

/** An access token whose signature, issuer, audience and times were verified. */
export interface IssuedAccess {
  readonly subject: string;
  readonly clientId: string;
  /** The one address of this control plane that it is for. */
  readonly resource: string;
  /** Instants are milliseconds. */
  readonly issuedAt: number;
  readonly expiresAt: number;
  /** When its person signed in at the issuer; absent where the issuer does not say. */
  readonly signedInAt?: number | undefined;
  readonly claims: Readonly<Record<string, unknown>>;
}

export interface AccessTokenVerifier {
  /** Returns true if a token says that it is of the issuer. Nothing of it is verified. */
  isOf(token: string): boolean;
  /** @throws MeshError `unauthenticated` that says why the token does not count, `unavailable` where the issuer does not answer */
  verify(token: string): Promise<IssuedAccess>;
}

/** Claims that are lists of words in one text (RFC 9068, 2.2.3; the other name is Microsoft's). */
const WORDS: ReadonlySet<string> = new Set(['scope', 'scp']);

/** Returns the claims with scopes as a list. */
export function claimsWithScopes(claims: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  const lists = [...WORDS].flatMap((name) => {
    const value = claims[name];
    return typeof value === 'string' ? [[name, value.split(' ')] as const] : [];
  });
  return { ...claims, ...Object.fromEntries(lists) };
}

/** Returns the scopes that clients ask the issuer for, as far as grants go by them. */
export function offeredScopes({ grants }: AuthorizationServer): readonly string[] {
  return [...new Set(grants.filter(({ claim }) => WORDS.has(claim)).map(({ value }) => value))];
}

/** Identifies a client of an issuer; no client of the own authorization server has such an id. */
export function issuedClientId(issuer: string, clientId: string): string {
  return `issued:${createHash('sha256')
    .update(JSON.stringify([issuer, clientId]))
    .digest('base64url')}`;
}
