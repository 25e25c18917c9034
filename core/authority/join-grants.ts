import { hasEnded } from '../base/time.ts';
import { type FieldValues, grantsOf } from '../model/grants.ts';
import { DEFAULT_NETWORK } from '../model/resources.ts';
import { isSpent, type TokenSpec } from '../model/token-record.ts';
import type { NetworkServices } from '../state/services.ts';
import type { JoinGrant } from './label-sets.ts';
import type { Write } from './writes.ts';

/** Returns what the devices get that may still join with the tokens of a workspace. */
export async function joinGrantsOf(
  { store, clock }: Pick<NetworkServices, 'store' | 'clock'>,
  workspace: string,
): Promise<readonly JoinGrant[]> {
  const { items } = await store.list(workspace, 'Token');
  return items.flatMap(({ spec }) =>
    spec.kind === 'join' && !isSpent(spec) && !hasEnded(spec, clock.now()) ? [joinsWith(spec)] : [],
  );
}

/** Returns what the devices get that join with the tokens which a batch makes or changes. */
export function newJoinGrants(writes: readonly Write[]): JoinGrant[] {
  return writes.flatMap(({ after }) =>
    after?.kind === 'Token' && after.spec.kind === 'join' ? [joinsWith(after.spec)] : [],
  );
}

function joinsWith({ labels, network = DEFAULT_NETWORK, deviceLabels = [] }: TokenSpec): JoinGrant {
  return { labels, network, deviceLabels };
}

/** Returns what a join token gives its devices beyond a place in the default network, which nobody has to approve. */
export function grantsBeyondJoining(token: { readonly spec: TokenSpec }): FieldValues {
  const { network = DEFAULT_NETWORK, ...others } = grantsOf({ kind: 'Token', labels: {}, spec: token.spec });
  return network === DEFAULT_NETWORK ? others : { ...others, network };
}
