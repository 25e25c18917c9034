import { type TokenRecord, tokenName } from '../model/token-record.ts';
import type { NetworkServices } from '../state/services.ts';
import { accountById } from './accounts.ts';

/** The tokens of one kind in a workspace. */
export async function tokensOf(
  { store }: Pick<NetworkServices, 'store'>,
  workspace: string,
  kind: 'join' | 'api',
): Promise<readonly TokenRecord[]> {
  // Names begin with the kind, so those of one kind lie together.
  const { items } = await store.list(workspace, 'Token', { after: tokenName(kind, '') });
  const end = items.findIndex(({ name }) => !name.startsWith(tokenName(kind, '')));
  return end < 0 ? items : items.slice(0, end);
}

/** The API tokens of an account in a workspace that still work. */
export async function liveApiTokens(
  services: Pick<NetworkServices, 'store' | 'clock'>,
  workspace: string,
  account: string,
): Promise<readonly TokenRecord[]> {
  const owner = await accountById(services, account);
  const now = services.clock.now();
  const tokens = await tokensOf(services, workspace, 'api');
  return tokens.filter(
    ({ spec }) => spec.owner === account && spec.epoch === owner?.spec.epoch && (spec.expiresAt ?? 0) > now,
  );
}
