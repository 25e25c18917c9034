import { createHash } from 'node:crypto';
import { invalidInput, MeshError } from '../base/errors.ts';
import type { TokenRecord, TokenSpec } from '../model/token-record.ts';
import {
  unmatchedClaim,
  WORKLOAD_SKEW_S,
  type WorkloadClaims,
  type WorkloadVerifier,
} from '../model/workload-identity.ts';

/** Tokens that last longer would be remembered too long. */
const MAX_LIFE_MS = 24 * 3_600_000;
/** Workloads that join with one join token while their tokens last. */
export const MAX_REMEMBERED = 500;
/** 96 bits: nobody finds another token of the issuer with the same. */
const DIGEST_CHARACTERS = 16;

/** A workload that proved what it is. */
export interface Workload {
  /** Stands for its OIDC token, which counts once. */
  readonly digest: string;
  /** Until when the OIDC token would count, in milliseconds. */
  readonly until: number;
  readonly issuer: string;
  /** Its claim `sub`. */
  readonly subject: string;
}

/**
 * Returns the workload that an OIDC token proves, where the join token asks for one.
 *
 * @throws MeshError `invalid_input` for a token that is missing or not wanted, `unauthenticated` for one that does not count,
 * `forbidden` for one whose claims do not match, `unavailable` where the issuer does not answer
 */
export async function workloadOf(
  { workloads, clock }: { readonly workloads: WorkloadVerifier; readonly clock: { now(): number } },
  { identity }: Pick<TokenSpec, 'identity'>,
  token: string | undefined,
): Promise<Workload | undefined> {
  if (identity === undefined) {
    if (token === undefined) return undefined;
    const detail = 'This join token asks for no identity: leave it out.';
    throw invalidInput([{ pointer: '/identity', detail }], detail);
  }
  if (token === undefined) {
    const detail = `This join token is for workloads with a token of ${identity.issuer}: give it with --identity.`;
    throw invalidInput([{ pointer: '/identity', detail }], detail);
  }
  const claims = await workloads.verify(token, identity);
  const unmatched = unmatchedClaim(identity, claims);
  if (unmatched !== undefined) {
    throw new MeshError('forbidden', `This join token is for other workloads: the claim ${unmatched} does not match.`);
  }
  const until = (Number(claims['exp']) + WORKLOAD_SKEW_S) * 1_000;
  if (until - clock.now() > MAX_LIFE_MS + WORKLOAD_SKEW_S * 1_000) {
    throw new MeshError(
      'unauthenticated',
      'This identity token lasts longer than a day: have one issued that ends sooner.',
    );
  }
  return {
    digest: digestOf(identity.issuer, claims, token),
    until,
    issuer: identity.issuer,
    subject: subjectOf(claims),
  };
}

/** Characters of a subject that are kept. */
const MAX_SUBJECT = 256;

function subjectOf({ sub }: WorkloadClaims): string {
  return typeof sub === 'string' ? sub.slice(0, MAX_SUBJECT) : '';
}

/**
 * Returns a join token that remembers the workload, to be stored with its registration.
 *
 * @throws MeshError `unauthenticated` for one that it knows, `rate_limited` where it has to remember too many
 */
export function rememberingWorkload(token: TokenRecord, { digest, until }: Workload, now: number): TokenRecord {
  const { spec } = token;
  const live = Object.entries(spec.spentIdentities ?? {}).filter(([, end]) => end > now);
  if (live.some(([known]) => known === digest)) {
    throw usedIdentity();
  }
  if (live.length >= MAX_REMEMBERED) {
    throw new MeshError(
      'rate_limited',
      `${MAX_REMEMBERED} workloads joined with this token while theirs last: try again later, or make another join token.`,
    );
  }
  return { ...token, spec: { ...spec, spentIdentities: { ...Object.fromEntries(live), [digest]: until } } };
}

export function usedIdentity(): MeshError {
  return new MeshError('unauthenticated', 'This identity token was used already: have a new one issued.');
}

/** A token without an id is its own. */
function digestOf(issuer: string, { jti }: WorkloadClaims, token: string): string {
  const id = typeof jti === 'string' && jti !== '' ? ['jti', jti] : ['token', token.slice(0, token.lastIndexOf('.'))];
  const hash = createHash('sha256').update(JSON.stringify([issuer, ...id]));
  return hash.digest('base64url').slice(0, DIGEST_CHARACTERS);
}
