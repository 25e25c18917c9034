import { z } from 'zod';
import { DELETE } from '../../core/base/operation.ts';
import { disableOtp as disable } from '../../core/identity/second-factor.ts';
import { defineOperation } from '../define.ts';
import { proof } from './otp-schema.ts';

export const disableOtp = defineOperation({
  name: 'disable_otp',
  title: 'Disable the second factor',
  description:
    'Takes the second factor of the caller away: the password alone signs in again. Its other sessions end; API tokens stay.',
  input: z.strictObject(proof),
  output: z.strictObject({ disabled: z.literal(true) }),
  access: 'person',
  workspace: 'none',
  edition: 'community',
  effects: { ...DELETE, idempotentHint: false },
  confidential: { input: ['password', 'otp'] },
  whenFull: 'works',
  problems: ['invalid_input', 'unauthenticated', 'forbidden', 'conflict', 'rate_limited'],
  http: { method: 'post', path: '/api/v1/users/me/otp/disable' },
  async run(input, context) {
    await disable(input, context);
    return { disabled: true as const };
  },
});
