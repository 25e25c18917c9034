import { z } from 'zod';
import { memoize } from '../base/memoize.ts';
import { hasEnded } from '../base/time.ts';
import { lookUpById } from '../model/find.ts';
import { gonePeers, withPeerNames } from '../model/peer-lists.ts';
import { storedPolicySpec } from '../model/policy.ts';
import { allRulesOf, namesNoDirection } from '../model/policy-match.ts';
import { policyText } from '../model/policy-words.ts';
import type { PolicyRecord } from '../model/resources.ts';
import { selects } from '../model/selector.ts';
import type { NetworkState } from '../state/state.ts';
import { recordSchema, recordView } from './record-view.ts';

/** A policy as answers show it. */
export const policySchema = recordSchema(
  storedPolicySpec,
  z.strictObject({
    matchedPeers: z.int().describe('Peers that the policy applies to'),
    ruleCount: z.int(),
    summary: z.string().describe('The policy in one line of words'),
    warnings: z.array(z.string()),
  }),
);

export type PolicyView = z.input<typeof policySchema>;

export function policyView(policy: PolicyRecord, state: NetworkState, now: number): PolicyView {
  const { spec } = policy;
  const matched = matchedPeers(spec, state);
  const editable = editablePolicy(policy, state);
  return recordView(editable, {
    matchedPeers: matched,
    ruleCount: allRulesOf(spec).length,
    summary: policyText(editable.spec),
    warnings: warningsOf(policy, state, matched, now),
  });
}

/** A policy as it may be sent back: with the names of the peers that it lists, and `{}` where it means everyone. */
export function editablePolicy(policy: PolicyRecord, { peers }: Pick<NetworkState, 'peers'>): PolicyRecord {
  const spec = withPeerNames({ ...policy.spec, peerSelector: policy.spec.peerSelector ?? {} }, peers);
  return { ...policy, spec };
}

/** How many peers each selector means, by the peers that there are. */
const countsOf = memoize((_peers: NetworkState['peers']) => new Map<string, number>());

function matchedPeers({ network, peerSelector = {} }: PolicyRecord['spec'], { peers }: NetworkState): number {
  const counts = countsOf(peers);
  const key = JSON.stringify([network, peerSelector]);
  let count = counts.get(key);
  if (count === undefined) {
    count = 0;
    for (const peer of peers.values()) {
      if ((network === undefined || network === peer.spec.network) && selects(peerSelector, peer)) count += 1;
    }
    counts.set(key, count);
  }
  return count;
}

function warningsOf({ spec }: PolicyRecord, state: NetworkState, matched: number, now: number): string[] {
  const warnings: string[] = [];
  if (matched === 0) warnings.push('The selector means no peer at present.');
  const gone = gonePeers(spec, (id) => lookUpById(state.peers, id) !== undefined);
  if (gone.length > 0) warnings.push(`It lists peers that are gone and means nobody by them: ${gone.join(', ')}.`);
  if (spec.network !== undefined && !state.networks.has(spec.network)) {
    warnings.push(`There is no network ${spec.network}.`);
  }
  if (spec.action === 'ALLOW' && namesNoDirection(spec)) {
    warnings.push('An ALLOW without ingress and egress isolates its peers both ways and allows nothing.');
  }
  if (hasEnded(spec, now)) warnings.push('The policy has expired.');
  return warnings;
}

/** A policy as the text of a list shows it: its rules in words. */
export function briefPolicy({ id, name, labels, spec, revision, status }: z.output<typeof policySchema>) {
  const { summary, matchedPeers, warnings } = status;
  return {
    id,
    name,
    labels,
    spec: { startsAt: spec.startsAt, expiresAt: spec.expiresAt },
    revision,
    status: { summary, matchedPeers, warnings },
  };
}
