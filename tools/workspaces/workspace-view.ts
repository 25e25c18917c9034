import { z } from 'zod';
import { formatInstant } from '../../core/base/time.ts';
import { settingsSchema, type WorkspaceRecord } from '../../core/model/workspaces.ts';

export const workspaceSchema = z.strictObject({
  id: z.string(),
  slug: z.string(),
  namespace: z.string(),
  displayName: z.string(),
  maxNodeCount: z.number().int(),
  settings: settingsSchema,
  createdAt: z.string(),
});

export function workspaceView({ uid, spec, createdAt }: WorkspaceRecord): z.input<typeof workspaceSchema> {
  return { id: uid, ...spec, createdAt: formatInstant(createdAt) };
}
