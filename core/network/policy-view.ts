import { z } from 'zod';
import { recordView, viewOfRecord } from '../record-view.ts';
import { parseInstant } from '../time.ts';
import { rulesOf } from './policy.ts';
import type { PolicyRecord } from './resources.ts';
import { selects } from './selector.ts';
import type { NetworkState } from './state.ts';

/** A policy as answers show it. */
export const policyView = recordView(
  z.record(z.string(), z.unknown()).describe('As it was written; GET /api/v1/openapi.json has its shape'),
  z.strictObject({
    matchedPeers: z.int().describe('Peers that the policy is about'),
    ruleCount: z.int(),
    warnings: z.array(z.string()),
  }),
);

export type PolicyView = z.input<typeof policyView>;

export function viewOfPolicy(policy: PolicyRecord, state: NetworkState, now: number): PolicyView {
  const { spec } = policy;
  const matched = [...state.peers.values()].filter(
    (peer) =>
      (spec.network === undefined || spec.network === peer.spec.network) &&
      selects(spec.peerSelector ?? {}, peer.labels),
  );
  const rules = [...(rulesOf(spec, 'ingress') ?? []), ...(rulesOf(spec, 'egress') ?? [])];
  return viewOfRecord(policy, {
    matchedPeers: matched.length,
    ruleCount: rules.length,
    warnings: warningsOf(policy, state, matched, now),
  });
}

function warningsOf({ spec }: PolicyRecord, state: NetworkState, matched: readonly unknown[], now: number): string[] {
  const warnings: string[] = [];
  if (matched.length === 0) warnings.push('The selector means no peer at present.');
  if (spec.network !== undefined && !state.networks.has(spec.network)) {
    warnings.push(`There is no network ${spec.network}.`);
  }
  if (spec.action === 'ALLOW' && spec.ingress === undefined && spec.egress === undefined) {
    warnings.push('An ALLOW without ingress and egress isolates its peers both ways and allows nothing.');
  }
  if (spec.expiresAt !== undefined && parseInstant(spec.expiresAt) <= now) warnings.push('The policy has expired.');
  return warnings;
}
