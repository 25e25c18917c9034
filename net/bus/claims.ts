import { DEFAULT_LIMITS } from '../nats/limits.ts';
import { nodePermissions } from '../nats/permissions.ts';
import { type Claims, encodeJwt } from './jwt.ts';
import type { SigningKey } from './nkey.ts';

/** Life of what a node signs in with, as that of its relay credential: nodes renew it at half of it. */
export const NODE_JWT_MS = 24 * 3_600_000;

const NO_LIMIT = -1;
const UNLIMITED_USER = { subs: NO_LIMIT, data: NO_LIMIT, payload: NO_LIMIT };

/** Returns the claims of the operator, who signs accounts with a separate key. */
export function operatorClaims(operator: string, signer: string, systemAccount: string, iat: number): Claims {
  return {
    sub: operator,
    name: 'mesh',
    iat,
    nats: { type: 'operator', signing_keys: [signer], system_account: systemAccount },
  };
}

/** Returns the claims of an account whose users the key of `signer` signs. */
export function accountClaims(account: string, name: string, signer: string, iat: number): Claims {
  const limits = {
    ...UNLIMITED_USER,
    imports: NO_LIMIT,
    exports: NO_LIMIT,
    wildcards: true,
    conn: NO_LIMIT,
    leaf: NO_LIMIT,
    disallow_bearer: true,
  };
  return { sub: account, name, iat, nats: { type: 'account', limits, signing_keys: [signer] } };
}

interface Subjects {
  readonly allow?: readonly string[];
  readonly deny?: readonly string[];
}

/** Returns the claims of a user in an account. Without subjects the user has all rights there. */
export function userClaims(
  user: string,
  account: string,
  name: string,
  iat: number,
  { pub = {}, sub = {} }: { readonly pub?: Subjects; readonly sub?: Subjects } = {},
): Claims {
  return { sub: user, name, iat, nats: { type: 'user', issuer_account: account, pub, sub, ...UNLIMITED_USER } };
}

export interface NodeUser {
  readonly workspace: string;
  readonly peer: string;
  /** `U…`, the key that the node proves. */
  readonly key: string;
}

/** Returns the JWT that a node signs in with, with the rights that the embedded bus gives it. Times in ms. */
export function nodeJwt(
  { workspace, peer, key }: NodeUser,
  account: string,
  signer: SigningKey,
  now: number,
  expiresAt: number = Number.POSITIVE_INFINITY,
): string {
  const { publish, subscribe } = nodePermissions(workspace, peer);
  const claims = userClaims(key, account, peer, seconds(now), { pub: publish, sub: subscribe });
  const nats = { ...claims.nats, subs: DEFAULT_LIMITS.node.subscriptions, allowed_connection_types: ['STANDARD'] };
  return encodeJwt({ ...claims, exp: seconds(Math.min(now + NODE_JWT_MS, expiresAt)), nats }, signer);
}

function seconds(ms: number): number {
  return Math.floor(ms / 1_000);
}
