import { z } from 'zod';
import { WORKSPACE_ROLES } from '../../core/base/scope.ts';
import { formatInstant } from '../../core/base/time.ts';
import type { MemberRecord } from '../../core/identity/members.ts';

export const memberSchema = z.strictObject({
  username: z.string(),
  role: z.enum(WORKSPACE_ROLES),
  since: z.string(),
});

export function memberView({ name, spec, createdAt }: MemberRecord): z.input<typeof memberSchema> {
  return { username: name, role: spec.role, since: formatInstant(createdAt) };
}
