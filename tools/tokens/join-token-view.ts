import { z } from 'zod';
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
  };
}
