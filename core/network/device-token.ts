import { newToken, type TokenKind, tokenKey } from '../identity/token.ts';
import { type TokenRecord, type TokenSpec, tokenDraft, tokenName } from '../identity/token-record.ts';
import type { Op, Store } from '../ports.ts';
import { draftOf } from '../record.ts';

export type OwnedTokenSpec = Pick<TokenSpec, 'name' | 'owner' | 'createdBy'> & Pick<Partial<TokenSpec>, 'expiresAt'>;

export interface IssuedToken {
  readonly token: string;
  readonly op: Op;
}

/** The first token of a device or agent. */
export function issueToken(kind: Extract<TokenKind, 'dev' | 'agt'>, spec: OwnedTokenSpec): IssuedToken {
  const token = newToken(kind);
  return { token, op: { op: 'create', record: tokenDraft(token, { kind, ...spec }) } };
}

/** A new token in place of the one the device or agent had, which ends with the commit. */
export async function renewToken(
  store: Pick<Store, 'get'>,
  workspace: string,
  kind: Extract<TokenKind, 'dev' | 'agt'>,
  spec: OwnedTokenSpec,
): Promise<IssuedToken> {
  const name = tokenName(kind, spec.owner);
  const held = (await store.get(workspace, { kind: 'Token', name })) as TokenRecord | undefined;
  if (!held) return issueToken(kind, spec);
  const token = newToken(kind);
  const record = { ...draftOf(held), unique: [tokenKey(token)] };
  return { token, op: { op: 'update', record, revision: held.revision } };
}
