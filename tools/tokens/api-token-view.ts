import { z } from 'zod';
import { formatDuration } from '../../core/base/duration.ts';
import { formatInstant } from '../../core/base/time.ts';
import type { TokenRecord } from '../../core/model/token-record.ts';

/** An API token without its secret. */
export const apiTokenSchema = z.strictObject({
  id: z.string(),
  name: z.string(),
  workspaceId: z.string(),
  scopes: z.array(z.string()),
  expiresAt: z.string(),
  maxGrant: z.string().optional().describe('longest life of what is made with it; absent: it ends with the token'),
  createdAt: z.string(),
});

export function apiTokenView({ uid, workspace, spec, createdAt }: TokenRecord): z.input<typeof apiTokenSchema> {
  const { name, scopes = [], expiresAt = 0, maxGrant } = spec;
  return {
    id: uid,
    name,
    workspaceId: workspace,
    scopes: [...scopes],
    expiresAt: formatInstant(expiresAt),
    ...(maxGrant !== undefined && { maxGrant: formatDuration(maxGrant) }),
    createdAt: formatInstant(createdAt),
  };
}
