import { z } from 'zod';
import { UPDATE } from '../../core/base/operation.ts';
import { TEXT_LIMITS } from '../../core/base/text.ts';
import { changePassword as change } from '../../core/identity/change-password.ts';
import { PASSWORD_LENGTH } from '../../core/identity/passwords.ts';
import { defineOperation } from '../define.ts';

export const changePassword = defineOperation({
  name: 'change_password',
  title: 'Change the password',
  description:
    'Changes the password of the logged-in person. Every session and API token of the account ends: log in again.',
  input: z.strictObject({
    oldPassword: z.string().min(1).max(TEXT_LIMITS.password),
    newPassword: z
      .string()
      .min(1)
      .max(TEXT_LIMITS.password)
      .describe(
        `${PASSWORD_LENGTH.min} to ${PASSWORD_LENGTH.max} characters, or more than ${PASSWORD_LENGTH.min} where app.signIn says so`,
      ),
  }),
  output: z.strictObject({ changed: z.literal(true) }),
  access: 'person',
  workspace: 'none',
  edition: 'community',
  effects: { ...UPDATE, idempotentHint: false },
  whenFull: 'leaves the last',
  problems: ['invalid_input', 'unauthenticated', 'forbidden', 'conflict', 'rate_limited'],
  http: { method: 'put', path: '/api/v1/users/me/password' },
  async run(input, context) {
    await change(input, context);
    return { changed: true as const };
  },
});
