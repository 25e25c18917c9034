import { createHash, createHmac } from 'node:crypto';
import type { Op, Store } from '../base/ports.ts';
import { draftOf } from '../base/record.ts';
import { newToken, type TokenKind, tokenKey } from '../model/token.ts';
import { type TokenSpec, tokenDraft, tokenName } from '../model/token-record.ts';

export type OwnedTokenSpec = Pick<TokenSpec, 'name' | 'owner' | 'createdBy'> & Pick<Partial<TokenSpec>, 'expiresAt'>;

export interface IssuedToken {
  readonly token: string;
  readonly op: Op;
}

/** The first token of a device or agent. */
export function issueToken(kind: Extract<TokenKind, 'dev' | 'agt'>, spec: OwnedTokenSpec): IssuedToken {
  const token = newToken(kind);
  return { token, op: { op: 'create', record: tokenDraft(token, { kind, ...spec, ...busDigestOf(token) }) } };
}

/** A new token in place of the one the device or agent had, which ends with the commit; a device may have made it itself. */
export async function renewToken(
  store: Pick<Store, 'get'>,
  workspace: string,
  kind: Extract<TokenKind, 'dev' | 'agt'>,
  spec: OwnedTokenSpec,
  own?: string,
): Promise<IssuedToken> {
  const name = tokenName(kind, spec.owner);
  const held = await store.get(workspace, { kind: 'Token', name });
  if (!held) return issueToken(kind, spec);
  const token = own ?? newToken(kind);
  const { expiresAt = held.spec.expiresAt } = spec;
  const renewed = { ...held.spec, ...(expiresAt !== undefined && { expiresAt }), ...busDigestOf(token) };
  const record = { ...draftOf(held), spec: renewed, unique: [tokenKey(token)] };
  return { token, op: { op: 'update', record, revision: held.revision } };
}

/**
 * Returns the secret with which a device signs in to the bus: HMAC-SHA256(device token, "mesh/bus/v1"), base64url
 * (docs/wire.md#requests-on-the-bus).
 */
export function busSecretOf(deviceToken: string): string {
  return createHmac('sha256', deviceToken).update('mesh/bus/v1').digest('base64url');
}

/** Kept beside a device token, so that the bus knows the secret by its digest and the token by nothing. */
function busDigestOf(token: string): Pick<TokenSpec, 'busDigest'> {
  if (!token.startsWith('mesh-dev-')) return {};
  return { busDigest: createHash('sha256').update(busSecretOf(token)).digest('hex') };
}
