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
  approvalEndedAt: z.string().optional().describe('when the host ended the need for a second person, where it did'),
  createdAt: z.string(),
});

export function workspaceView({ uid, spec, createdAt }: WorkspaceRecord): z.input<typeof workspaceSchema> {
  const { slug, namespace, displayName, maxNodeCount, settings, approvalEndedAt } = spec;
  return {
    id: uid,
    slug,
    namespace,
    displayName,
    maxNodeCount,
    settings,
    ...(approvalEndedAt !== undefined && { approvalEndedAt: formatInstant(approvalEndedAt) }),
    createdAt: formatInstant(createdAt),
  };
}
