import { z } from 'zod';
import { DELETE } from '../../core/base/operation.ts';
import { disableOtp as disable } from '../../core/identity/second-factor.ts';
import { defineOperation } from '../define.ts';
import { proof } from './otp-schema.ts';

export const disableOtp = defineOperation({
  name: 'disable_otp',
  title: 'Disable the second factor',
  description:
    'Takes the authenticator app of the caller away: without a passkey the password alone signs in again. Other sessions end; API tokens stay.',
  input: z.strictObject(proof),
  output: z.strictObject({ disabled: z.literal(true) }),
  access: 'person',
  workspace: 'none',
  edition: 'community',
  effects: { ...DELETE, idempotentHint: false },
  confidential: { input: ['password', 'otp', 'passkey'] },
  whenFull: 'works',
  problems: ['invalid_input', 'unauthenticated', 'forbidden', 'conflict', 'rate_limited'],
  http: { method: 'post', path: '/api/v1/users/me/otp/disable' },
  async run(input, context) {
    await disable(input, context);
    return { disabled: true as const };
  },
});
