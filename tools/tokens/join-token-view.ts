import { z } from 'zod';
import { formatDuration } from '../../core/base/duration.ts';
import { formatInstant } from '../../core/base/time.ts';
import type { TokenRecord } from '../../core/model/token-record.ts';

/** A join token without its secret. */
export const joinTokenSchema = z.strictObject({
  id: z.string(),
  name: z.string(),
  expiresAt: z.string(),
  usageLimit: z.number().int(),
  usedCount: z.number().int(),
  labels: z.record(z.string(), z.string()),
  network: z.string(),
  createdAt: z.string(),
  createdBy: z.string(),
  deviceLabels: z.array(z.string()).optional().describe('Labels that a device may ask for: key=value, or key'),
  identity: z
    .strictObject({ issuer: z.string(), claims: z.record(z.string(), z.string()) })
    .optional()
    .describe('Workloads that alone may use it'),
  deviceTtl: z.string().optional().describe('How long its devices last'),
  admits: z.literal(true).optional().describe('Its devices need no approval'),
  ephemeral: z.literal(true).optional().describe('Its devices are deleted once they have been offline for 10 minutes'),
});

export function joinTokenView({ uid, spec, createdAt }: TokenRecord): z.input<typeof joinTokenSchema> {
  const {
    name,
    expiresAt = 0,
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
  } = spec;
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
    ...(identity && { identity: { issuer: identity.issuer, claims: { ...identity.claims } } }),
    ...(deviceTtlMs !== undefined && { deviceTtl: formatDuration(deviceTtlMs) }),
    ...(admits && { admits }),
  };
}
