import { z } from 'zod';
import { formatDuration } from '../base/duration.ts';
import { API_VERSION } from '../base/record.ts';
import { formatInstant } from '../base/time.ts';
import { withPeerNames } from '../model/peer-lists.ts';
import { egressRuleSchema } from '../model/policy.ts';
import { DEFAULT_NETWORK } from '../model/resources.ts';
import type { TokenRecord } from '../model/token-record.ts';
import { keptJwkSchema } from '../model/workload-identity.ts';
import type { NetworkState } from '../state/state.ts';
import { documentSchema } from './custom-resource.ts';

const text = z.record(z.string(), z.string());

/** A rule for workloads as a file holds it: what people decide of it, without its uses. */
export const ruleDocumentSchema = documentSchema(
  'WorkloadRule',
  {},
  {
    spec: z.strictObject({
      identity: z.strictObject({
        issuer: z.string(),
        claims: text,
        keys: z.array(keptJwkSchema).optional(),
        ca: z.string().optional(),
        tokenReview: z.string().optional(),
      }),
      labels: text.optional(),
      network: z.string().optional(),
      deviceLabels: z.array(z.string()).optional(),
      deviceTtl: z.string().optional(),
      admits: z.literal(true).optional(),
      preset: z.string().optional(),
      egress: z.array(egressRuleSchema).optional(),
      usageLimit: z.int().optional(),
      expiresAt: z.string().optional(),
    }),
  },
);
type RuleDocument = z.output<typeof ruleDocumentSchema>;

/** Returns the document of a rule: what is as it is without saying so is left out. @throws TypeError for another join token */
export function ruleDocument(
  { spec, labels, annotations }: Pick<TokenRecord, 'spec' | 'labels' | 'annotations'>,
  peers: NetworkState['peers'],
): RuleDocument {
  const { identity, network, deviceLabels, deviceTtlMs, admits, preset, egress, usageLimit, expiresAt } = spec;
  if (!identity) throw new TypeError(`${spec.name} is no rule for workloads.`);
  return {
    apiVersion: API_VERSION,
    kind: 'WorkloadRule',
    metadata: { name: spec.name, ...nonEmpty('labels', labels), ...nonEmpty('annotations', annotations) },
    spec: {
      identity: { ...identity, claims: sorted(identity.claims) },
      ...nonEmpty('labels', spec.labels),
      ...(network !== undefined && network !== DEFAULT_NETWORK && { network }),
      ...(deviceLabels && { deviceLabels: [...deviceLabels] }),
      ...(deviceTtlMs !== undefined && { deviceTtl: formatDuration(deviceTtlMs) }),
      ...(admits && { admits }),
      ...(preset && { preset }),
      ...(egress && { egress: [...withPeerNames(egress, peers)] }),
      ...(usageLimit !== undefined && { usageLimit }),
      ...(expiresAt !== undefined && { expiresAt: formatInstant(expiresAt) }),
    },
  };
}

function nonEmpty<F extends 'labels' | 'annotations'>(field: F, map: Readonly<Record<string, string>>) {
  return Object.keys(map).length === 0 ? {} : ({ [field]: sorted(map) } as { [K in F]: Record<string, string> });
}

function sorted(map: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(Object.entries(map).sort(([a], [b]) => (a < b ? -1 : 1)));
}
