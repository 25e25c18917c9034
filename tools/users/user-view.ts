import { z } from 'zod';
import { formatInstant } from '../../core/base/time.ts';
import { ACCOUNT_ROLES, type AccountRecord } from '../../core/identity/accounts.ts';

export const userSchema = z.strictObject({
  id: z.string(),
  username: z.string(),
  displayName: z.string(),
  role: z.enum(ACCOUNT_ROLES).describe('platform_admin holds everywhere; a user holds what its memberships say'),
  disabled: z.boolean(),
  passwordChangeRequired: z.boolean(),
  secondFactor: z.boolean().describe('whether it signs in with a code of an authenticator app too'),
  createdAt: z.string(),
});

export function userView({ uid, name, spec, createdAt }: AccountRecord): z.input<typeof userSchema> {
  const { displayName, role, disabled, passwordState } = spec;
  const passwordChangeRequired = passwordState !== 'own';
  return {
    id: uid,
    username: name,
    displayName,
    role,
    disabled,
    passwordChangeRequired,
    secondFactor: spec.secondFactor !== undefined,
    createdAt: formatInstant(createdAt),
  };
}
