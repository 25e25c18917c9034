import { z } from 'zod';
import { WORKSPACE_ROLES } from '../../core/base/scope.ts';
import { formatInstant } from '../../core/base/time.ts';
import type { MemberRecord } from '../../core/identity/members.ts';

export const memberSchema = z.strictObject({
  username: z.string(),
  role: z.enum(WORKSPACE_ROLES),
  since: z.string(),
  issuer: z.string().optional().describe('whose claims gave the membership, which ends with them'),
});

export function memberView({ name, spec, createdAt }: MemberRecord): z.input<typeof memberSchema> {
  const { role, issued } = spec;
  return { username: name, role, since: formatInstant(createdAt), ...(issued && { issuer: issued.issuer }) };
}
