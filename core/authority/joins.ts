import { DEFAULT_NETWORK } from '../model/resources.ts';
import { isSpent } from '../model/token-record.ts';
import type { NetworkServices } from '../state/services.ts';
import type { Joins } from './newcomers.ts';

/** What devices get that join with one of the tokens that are out. */
export async function joinsOf(
  { store, clock }: Pick<NetworkServices, 'store' | 'clock'>,
  workspace: string,
): Promise<readonly Joins[]> {
  const { items } = await store.list(workspace, 'Token');
  return items.flatMap(({ spec }) => {
    const { kind, labels, network = DEFAULT_NETWORK, expiresAt = Number.POSITIVE_INFINITY } = spec;
    return kind === 'join' && !isSpent(spec) && expiresAt > clock.now() ? [{ labels, network }] : [];
  });
}
