import { z } from 'zod';
import { formatDuration } from '../../core/base/duration.ts';
import { formatInstant, MAX_INSTANT } from '../../core/base/time.ts';
import { egressRuleSchema } from '../../core/model/policy.ts';
import { ruleToken, withAddress } from '../../core/model/token.ts';
import { isWorkloadRule, type TokenRecord } from '../../core/model/token-record.ts';
import type { WorkloadIdentity } from '../../core/model/workload-identity.ts';
import type { NetworkServices } from '../../core/state/services.ts';

/** A join token without its secret. */
export const joinTokenSchema = z.strictObject({
  id: z.string(),
  name: z.string(),
  expiresAt: z.string().describe('9999-12-31T23:59:59.999Z: never, as a rule for workloads may'),
  usageLimit: z.number().int().describe('0: no limit, as a rule for workloads may have'),
  usedCount: z.number().int(),
  labels: z.record(z.string(), z.string()),
  network: z.string(),
  createdAt: z.string(),
  createdBy: z.string(),
  deviceLabels: z.array(z.string()).optional().describe('Labels that a device may ask for: key=value, or key'),
  identity: z
    .strictObject({
      issuer: z.string(),
      claims: z.record(z.string(), z.string()),
      tokenReview: z.string().optional().describe('Cluster whose API server judges the tokens'),
    })
    .optional()
    .describe('Workloads that alone may use it'),
  deviceTtl: z.string().optional().describe('How long its devices last'),
  admits: z.literal(true).optional().describe('Its devices need no approval'),
  preset: z.string().optional().describe('Preset that holds its workloads'),
  egress: z.array(egressRuleSchema).optional().describe('What its workloads may reach, with the preset sandboxed'),
  token: z.string().optional().describe('Of a rule for workloads, where it is no secret'),
  ephemeral: z.literal(true).optional().describe('Its devices are deleted once they have been offline for 10 minutes'),
});

export function joinTokenView(
  record: TokenRecord,
  { keys, settings }: Pick<NetworkServices, 'keys' | 'settings'>,
): z.input<typeof joinTokenSchema> {
  const { uid, spec, createdAt, workspace } = record;
  const {
    name,
    expiresAt = MAX_INSTANT,
    usageLimit = 0,
    usedCount,
    labels,
    network = '',
    createdBy,
    deviceLabels,
    ephemeral,
    identity,
    deviceTtlMs,
    admits,
    preset,
    egress,
  } = spec;
  const ruled = isWorkloadRule(record) ? ruleToken(workspace, name, keys.controlKeyId) : undefined;
  return {
    id: uid,
    name,
    expiresAt: formatInstant(expiresAt),
    usageLimit,
    usedCount,
    labels: { ...labels },
    network,
    createdAt: formatInstant(createdAt),
    createdBy,
    ...(deviceLabels !== undefined && { deviceLabels: [...deviceLabels] }),
    ...(ephemeral && { ephemeral }),
    ...(identity && { identity: identityView(identity) }),
    ...(deviceTtlMs !== undefined && { deviceTtl: formatDuration(deviceTtlMs) }),
    ...(admits && { admits }),
    ...(preset && { preset }),
    ...(egress && { egress: [...egress] }),
    ...(ruled !== undefined && { token: withAddress(ruled, settings) }),
  };
}

function identityView({ issuer, claims, tokenReview }: WorkloadIdentity) {
  return { issuer, claims: { ...claims }, ...(tokenReview !== undefined && { tokenReview }) };
}
