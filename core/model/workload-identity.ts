import { z } from 'zod';
import { listOf } from '../base/list.ts';
import { lineOfText, linesOfText, mapOf, TEXT_LIMITS } from '../base/text.ts';
import { certificatesFault } from './certificates.ts';

const MAX_CLAIMS = 8;
const MAX_KEYS = 10;
const MAX_ISSUER = 512;
/** Characters of some certificates. */
const MAX_CA = 16_384;
/** An RSA key of 8,192 bits in base64url. */
const MAX_KEY_PART = 1_366;
const GITHUB = 'https://token.actions.githubusercontent.com';
const GITLAB = 'https://gitlab.com';

const keyPart = lineOfText(MAX_KEY_PART);
const PUBLIC_PARTS = ['kty', 'kid', 'alg', 'use', 'crv', 'n', 'e', 'x', 'y'] as const;
const PRIVATE_PARTS = ['d', 'p', 'q', 'dp', 'dq', 'qi', 'k'] as const;

/** A public key (RFC 7517), of which what verifies signatures is kept. */
export const keptJwkSchema = z.strictObject({
  kty: z.enum(['RSA', 'EC', 'OKP']),
  kid: lineOfText(TEXT_LIMITS.reference).optional(),
  alg: lineOfText(TEXT_LIMITS.id).optional(),
  use: z.literal('sig').optional(),
  crv: lineOfText(TEXT_LIMITS.id).optional(),
  ...{ n: keyPart.optional(), e: keyPart.optional(), x: keyPart.optional(), y: keyPart.optional() },
});

const publicJwkSchema = z.preprocess(
  (input) => (isRecord(input) && !PRIVATE_PARTS.some((part) => part in input) ? publicParts(input) : input),
  keptJwkSchema,
);

function publicParts(key: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  return Object.fromEntries(PUBLIC_PARTS.flatMap((part) => (part in key ? [[part, key[part]]] : [])));
}

function isRecord(input: unknown): input is Readonly<Record<string, unknown>> {
  return typeof input === 'object' && input !== null && !Array.isArray(input);
}

/** Clocks of issuers may differ by so much. */
export const WORKLOAD_SKEW_S = 60;

/** Claims that say nothing of who a workload is. */
const NOT_IDENTIFYING: ReadonlySet<string> = new Set(['iss', 'aud', 'exp', 'iat', 'nbf', 'jti']);

/** Which workloads may use a join token: those with an OIDC token of this issuer whose claims match. */
export const workloadIdentitySchema = z
  .strictObject({
    issuer: lineOfText(MAX_ISSUER)
      .refine(isIssuer, { error: 'write an https address without query, as the workload has it in the claim iss' })
      .describe('iss of its tokens, such as https://token.actions.githubusercontent.com'),
    claims: mapOf(
      lineOfText(TEXT_LIMITS.reference)
        .min(1)
        .refine((name) => !NOT_IDENTIFYING.has(name), { error: 'this claim does not say who the workload is' }),
      lineOfText(TEXT_LIMITS.term).refine(hasLetterOrDigit, {
        error: 'this matches everyone: write a value, or part of one',
      }),
      MAX_CLAIMS,
      'claims',
    ).describe('patterns that all have to match; * stands for any characters but / and :'),
    keys: z
      // As an issuer publishes them: a set, or its list.
      .preprocess(
        (input) => (isRecord(input) && 'keys' in input ? input['keys'] : input),
        listOf(publicJwkSchema, MAX_KEYS),
      )
      .optional()
      .describe(
        'public keys of an issuer that the control plane does not reach, such as a cluster; unset: by discovery',
      ),
    ca: linesOfText(MAX_CA)
      .superRefine((text, context) => {
        const message = certificatesFault(text);
        if (message !== undefined) context.addIssue({ code: 'custom', message });
      })
      .optional()
      .describe('PEM: authorities that alone vouch for the server of the issuer, in place of the public ones'),
    tokenReview: lineOfText(TEXT_LIMITS.name)
      .min(1)
      .optional()
      .describe('cluster of app.kubernetes whose API server judges the tokens'),
  })
  .superRefine(({ issuer, claims, keys, ca, tokenReview }, context) => {
    const message = missingClaim(issuer, claims) ?? (tokenReview === undefined ? undefined : notOfCluster(claims));
    if (message !== undefined) context.addIssue({ code: 'custom', path: ['claims'], message });
    const ways = Object.entries({ keys, ca, tokenReview }).flatMap(([way, value]) => (value === undefined ? [] : way));
    if (ways.length > 1) {
      const detail = `write one of ${ways.join(' and ')}: each says by itself how the tokens are verified`;
      context.addIssue({ code: 'custom', path: [ways[1] ?? ''], message: detail });
    }
  });

export type WorkloadIdentity = z.infer<typeof workloadIdentitySchema>;

/** Claims of an OIDC token, after its signature, issuer, audience and times were verified. */
export type WorkloadClaims = Readonly<Record<string, unknown>>;

/** Verifies OIDC tokens of workloads. */
export interface WorkloadVerifier {
  /** @throws MeshError `unauthenticated` that says why the token does not count, `unavailable` where its issuer does not answer */
  verify(token: string, of: Omit<WorkloadIdentity, 'claims'>): Promise<WorkloadClaims>;
}

function hasLetterOrDigit(pattern: string): boolean {
  return [...pattern].some((one) => (one >= '0' && one <= '9') || one.toLowerCase() !== one.toUpperCase());
}

function isIssuer(text: string): boolean {
  const url = URL.parse(text);
  return url?.protocol === 'https:' && url.username === '' && url.password === '' && !/[?#\s]/.test(text);
}

/** Everybody has tokens of a forge: a name there can pass to another owner, an id cannot. */
function missingClaim(issuer: string, claims: Readonly<Record<string, string>>): string | undefined {
  const names = Object.keys(claims);
  if (names.length === 0) return 'name at least one claim: without any, each workload of the issuer would match';
  const isExact = (name: string) => claims[name] !== undefined && !claims[name].includes('*');
  const needsPlace = (...ids: readonly string[]): string | undefined => {
    if (!ids.some(isExact)) return `name one of ${ids.join(', ')} without *: names can pass to another owner`;
    if (names.includes('ref') || names.includes('environment')) return undefined;
    return 'name ref or environment too: else each branch matches, that of a pull request among them';
  };
  if (issuer === GITHUB || issuer.startsWith(`${GITHUB}/`)) return needsPlace('repository_id', 'repository_owner_id');
  if (issuer === GITLAB) return needsPlace('project_id', 'namespace_id');
  const [system = '', kind = '', namespace = ''] = claims['sub']?.split(':') ?? [];
  const isServiceAccount = matches(system, 'system') && matches(kind, 'serviceaccount');
  if (!isServiceAccount || (namespace !== '' && !namespace.includes('*'))) return undefined;
  return 'name the namespace of the service account without *';
}

/** An API server vouches for everybody who may speak to it: people, nodes and each service account. */
function notOfCluster({ sub = '' }: Readonly<Record<string, string>>): string | undefined {
  const [system, kind, namespace = '*', name = ''] = sub.split(':');
  if (system === 'system' && kind === 'serviceaccount' && !namespace.includes('*') && name !== '') return undefined;
  return 'name sub as system:serviceaccount:NAMESPACE:NAME, the namespace without *';
}

/** Returns the first claim that does not match; undefined where all do. */
export function unmatchedClaim({ claims }: Pick<WorkloadIdentity, 'claims'>, has: WorkloadClaims): string | undefined {
  return Object.entries(claims).find(([name, pattern]) => !matches(pattern, has[name]))?.[0];
}

/** Compares a claim with a pattern in which `*` stands for any characters but `/` and `:`; in time of the product of their lengths. */
function matches(pattern: string, claim: unknown): boolean {
  if (typeof claim !== 'string' && typeof claim !== 'number' && typeof claim !== 'boolean') return false;
  const text = String(claim);
  let [at, from, star, behind] = [0, 0, -1, 0];
  while (at < text.length) {
    if (pattern[from] === '*') {
      [star, behind] = [from, at];
      from += 1;
    } else if (pattern[from] === text[at]) {
      from += 1;
      at += 1;
    } else if (star >= 0 && text[behind] !== '/' && text[behind] !== ':') {
      behind += 1;
      [at, from] = [behind, star + 1];
    } else return false;
  }
  return pattern.slice(from).replaceAll('*', '') === '';
}
