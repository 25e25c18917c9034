import { z } from 'zod';
import { formatInstant } from '../../core/base/time.ts';
import { ACCOUNT_ROLES, type AccountRecord } from '../../core/identity/accounts.ts';
import { administratorNotice } from '../../core/identity/approvers.ts';

export const userSchema = z.strictObject({
  id: z.string(),
  username: z.string(),
  displayName: z.string(),
  role: z.enum(ACCOUNT_ROLES).describe('platform_admin holds everywhere; a user holds what its memberships say'),
  disabled: z.boolean(),
  passwordChangeRequired: z.boolean(),
  secondFactor: z.boolean().describe('whether it has an authenticator app or a passkey'),
  createdAt: z.string(),
  issuer: z.string().optional().describe('who signs this person in, in place of a password'),
});

/** An account with what changes once it has signed in, where it approves from then on. */
export const changedUserSchema = userSchema.extend({
  notice: z
    .string()
    .optional()
    .describe(
      'what changes once a new platform administrator has signed in with a password of their own or by an issuer',
    ),
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
    ...(spec.issued && { issuer: spec.issued.issuer }),
  };
}

/** @param wasAdministrator whether it administered the platform before the change */
export function changedUserView(account: AccountRecord, wasAdministrator: boolean): z.input<typeof changedUserSchema> {
  const { role, disabled } = account.spec;
  const isNew = role === 'platform_admin' && !disabled && !wasAdministrator;
  return { ...userView(account), ...(isNew && { notice: administratorNotice(account.name) }) };
}
