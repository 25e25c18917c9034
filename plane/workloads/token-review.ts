import { decodeJwt } from 'jose';
import { z } from 'zod';
import { MeshError } from '../../core/base/errors.ts';
import type { WorkloadClaims } from '../../core/model/workload-identity.ts';
import { buildOutgoing, type RequestLimits, type SendOutgoing } from '../outgoing/request.ts';
import type { Resolve } from '../outgoing/resolve.ts';

const REVIEW_PATH = '/apis/authentication.k8s.io/v1/tokenreviews';
const REVIEW_LIMITS: RequestLimits = { connectMs: 3_000, totalMs: 5_000, responseBytes: 65_536 };
/** Reviews by one cluster at once: anybody may present a token, and the cluster has other work. */
export const MAX_REVIEWS = 16;

/** A Kubernetes cluster that the installation names. */
export interface ClusterSettings {
  readonly name: string;
  /** Origin of its API server. */
  readonly server: string;
  /** PEM: authorities that vouch for it, in place of the public ones. */
  readonly ca?: string;
  /** Reads the credential of the reviewer. @throws Error where it cannot be read */
  readonly readToken: () => string;
}

export interface ReviewOptions {
  readonly clusters: readonly ClusterSettings[];
  readonly resolve?: Resolve;
  readonly limits?: Partial<RequestLimits>;
}

const text = z.string().max(4_096);
/** As `authentication.k8s.io/v1` has it, of which this is read. */
const reviewSchema = z.object({
  kind: z.literal('TokenReview'),
  status: z.object({
    authenticated: z.boolean().optional(),
    audiences: z.array(text).max(100).optional(),
    user: z
      .object({
        username: text.optional(),
        uid: text.optional(),
        extra: z.record(text, z.array(text).max(100)).optional(),
      })
      .optional(),
  }),
});

/** Has a cluster judge a token. */
export type ReviewToken = (
  cluster: string,
  token: string,
  of: { readonly issuer: string; readonly audiences: readonly string[] },
) => Promise<WorkloadClaims>;

/**
 * Has API servers of Kubernetes judge tokens of their workloads (TokenReview). They are the only ones that know whether the pod
 * is there still. The claims are those of the token, with `sub` and `uid` as the server names its user, and what it says of
 * that beside: of `extra` each entry of one value.
 */
export function buildTokenReview({ clusters, resolve, limits = {} }: ReviewOptions): ReviewToken {
  const known = new Map(clusters.map((cluster) => [cluster.name, { cluster, send: senderTo(cluster), pending: 0 }]));

  function senderTo({ server }: ClusterSettings): SendOutgoing {
    // The installation names the server, so that it may be reached wherever it is: it alone.
    const host = new URL(server).hostname.replace(/^\[(.*)\]$/, '$1');
    return buildOutgoing({ allow: [host], resolve, limits: { ...REVIEW_LIMITS, ...limits } });
  }

  return async (name, token, { issuer, audiences }) => {
    const entry = known.get(name);
    if (!entry) throw away(name, 'app.kubernetes of config.yaml does not name it', 'Add it there.');
    const claims = claimsIn(token, issuer);
    if (entry.pending >= MAX_REVIEWS) throw away(name, `it judges ${MAX_REVIEWS} tokens already`);
    entry.pending += 1;
    try {
      const { status } = await review(entry.cluster, entry.send, { token, audiences });
      return { ...claims, ...userClaims(status, audiences) };
    } finally {
      entry.pending -= 1;
    }
  };
}

type Review = z.output<typeof reviewSchema>;

async function review(
  { name, server, ca, readToken }: ClusterSettings,
  send: SendOutgoing,
  spec: { readonly token: string; readonly audiences: readonly string[] },
): Promise<Review> {
  const reviewer = tokenOf(name, readToken);
  const answer = await send(
    {
      url: new URL(REVIEW_PATH, server).href,
      headers: {
        authorization: `Bearer ${reviewer}`,
        'content-type': 'application/json',
        accept: 'application/json',
      },
      body: JSON.stringify({ apiVersion: 'authentication.k8s.io/v1', kind: 'TokenReview', spec }),
      ...(ca !== undefined && { ca }),
    },
    new AbortController().signal,
  );
  if (typeof answer === 'string') throw away(name, answer.replace(/\.$/, ''));
  const { status, body, isWhole } = answer;
  if (status === 401 || status === 403) {
    const remedy = `Renew the tokenFile of ${name} in app.kubernetes, and bind the role system:auth-delegator to its service account.`;
    throw away(name, `it refuses the reviewer of this control plane (status ${status})`, remedy);
  }
  if (status !== 200 && status !== 201) throw away(name, `it answered with the status ${status}`);
  if (!isWhole) throw away(name, 'its answer is too long');
  try {
    return reviewSchema.parse(JSON.parse(body.toString('utf8')));
  } catch {
    throw away(name, 'its answer is no TokenReview', 'Check the server of the cluster in app.kubernetes.');
  }
}

function tokenOf(name: string, readToken: () => string): string {
  let token = '';
  try {
    token = readToken();
  } catch {
    // Said below: the path of a file is not for who presents a token.
  }
  // A header takes printable characters alone.
  if (/^[\x21-\x7e]+$/.test(token)) return token;
  throw away(name, 'the token of its reviewer cannot be read', 'Look at its tokenFile in app.kubernetes.');
}

/** The claims of a token of a service account, which nobody has verified yet. */
function claimsIn(token: string, issuer: string): WorkloadClaims {
  let claims: WorkloadClaims;
  try {
    claims = decodeJwt(token);
  } catch {
    throw refused('it is no signed token');
  }
  if (claims['iss'] !== issuer) throw refused(`it is not of ${issuer}`);
  if (typeof claims['exp'] !== 'number') throw refused('it never expires: project one with expirationSeconds');
  const { iss, aud, exp, iat, jti } = claims;
  return { iss, aud, exp, iat, jti };
}

function userClaims(
  { authenticated, audiences: held = [], user = {} }: Review['status'],
  audiences: readonly string[],
) {
  const asked = audiences.join(' or ');
  if (authenticated !== true) {
    throw refused(`its cluster does not know it, or it has ended: project one with the audience ${asked}`);
  }
  // A server that knows no audiences names none, and its token could be for anybody.
  if (held.length === 0 || !held.every((one) => audiences.includes(one))) {
    throw refused(`its audience is not this control plane, which is ${asked}`);
  }
  const { username, uid, extra = {} } = user;
  if (username === undefined || username === '') throw refused('its cluster does not say whose it is');
  const single = Object.entries(extra).flatMap(([key, values]) => (values.length === 1 ? [[key, values[0]]] : []));
  return { ...withoutOwn(Object.fromEntries(single)), sub: username, ...(uid !== undefined && { uid }) };
}

/** What a cluster says of a user never stands for what the token says of itself. */
function withoutOwn({ iss, aud, exp, iat, nbf, jti, ...rest }: Readonly<Record<string, unknown>>) {
  return rest;
}

function refused(why: string): MeshError {
  return new MeshError('unauthenticated', `This identity token does not count: ${why}.`);
}

function away(cluster: string, why: string, remedy = 'Try again.'): MeshError {
  return new MeshError('unavailable', `The cluster ${cluster} cannot judge the token: ${why}. ${remedy}`);
}
