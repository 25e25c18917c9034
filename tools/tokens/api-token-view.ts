import { z } from 'zod';
import { formatInstant } from '../../core/base/time.ts';
import type { TokenRecord } from '../../core/model/token-record.ts';

/** An API token without its secret. */
export const apiTokenSchema = z.strictObject({
  id: z.string(),
  name: z.string(),
  workspaceId: z.string(),
  scopes: z.array(z.string()),
  expiresAt: z.string(),
  createdAt: z.string(),
});

export function apiTokenView({ uid, workspace, spec, createdAt }: TokenRecord): z.input<typeof apiTokenSchema> {
  const { name, scopes = [], expiresAt = 0 } = spec;
  return {
    id: uid,
    name,
    workspaceId: workspace,
    scopes: [...scopes],
    expiresAt: formatInstant(expiresAt),
    createdAt: formatInstant(createdAt),
  };
}
