import { createHash } from 'node:crypto';
import type { Scope } from '../base/scope.ts';
import { hasClaim } from './issuers.ts';
import type { EgressRule } from './policy.ts';
import type { PolicyPreset } from './resources.ts';

/** Another authorization server than the own one, whose access tokens count at /mcp (docs/oauth.md#another-authorization-server). */
export interface AuthorizationServer {
  /** Its identifier, exactly as its tokens have it. It is one of the issuers that sign people in. */
  readonly issuer: string;
  readonly grants: readonly AgentGrant[];
  /** Hosts, addresses and CIDRs that are not on the internet and its keys are fetched from all the same. */
  readonly allow: readonly string[];
  /** True where clients bring its identity assertions to this control plane, which issues the access tokens for them. */
  readonly takesAssertions: boolean;
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
  /** Returns true if a token says that it is of the issuer, or of this installation. Nothing of it is verified. */
  isOf(token: string): boolean;
  /** @throws MeshError `unauthenticated` that says why the token does not count, `unavailable` where the issuer does not answer */
  verify(token: string): Promise<IssuedAccess>;
  /** Present where identity assertions are taken. */
  readonly assertions?: AssertionExchange | undefined;
}

/** An identity assertion (ID-JAG) whose signature, kind, issuer, audience and times were verified. */
export interface IdentityAssertion extends Omit<IssuedAccess, 'resource'> {
  /** The issuer gives each assertion its own. */
  readonly id: string;
  /** Addresses of this control plane that it is for; all of them where it names no resource. */
  readonly resources: readonly string[];
}

export interface AssertionExchange {
  /** @throws MeshError as {@link AccessTokenVerifier.verify} */
  verify(assertion: string): Promise<IdentityAssertion>;
  /** Returns an access token that says these facts, and lasts for {@link OWN_ACCESS_S}. */
  issue(access: Omit<IssuedAccess, 'expiresAt'>): Promise<string>;
}

/** Life of an access token that was issued for an assertion, in seconds: its client brings another assertion then. */
export const OWN_ACCESS_S = 3_600;

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

/** Returns the claims with no other scopes than those that were asked for. */
export function narrowedClaims(claims: IssuedAccess['claims'], asked: ReadonlySet<string>): IssuedAccess['claims'] {
  const narrowed = Object.entries(claims).map(([name, value]) => [
    name,
    WORDS.has(name) && Array.isArray(value) ? value.filter((scope) => asked.has(scope)) : value,
  ]);
  return Object.fromEntries(narrowed);
}

/** Returns the claims that a grant fits, with the values that grants name: nothing else of them decides. */
export function claimsOfGrants(
  { grants }: Pick<AuthorizationServer, 'grants'>,
  claims: IssuedAccess['claims'],
): Readonly<Record<string, readonly string[]>> {
  const fitting = grants.filter((grant) => hasClaim(claims, grant));
  const names = new Set(fitting.map(({ claim }) => claim));
  const valuesOf = (name: string) => fitting.flatMap(({ claim, value }) => (claim === name ? [value] : []));
  return Object.fromEntries([...names].map((name) => [name, [...new Set(valuesOf(name))]]));
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
