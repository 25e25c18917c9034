import { z } from 'zod';
import { CREATE } from '../../core/base/operation.ts';
import { confirmOtp as confirm } from '../../core/identity/second-factor.ts';
import { defineOperation } from '../define.ts';
import { otpText, recoveryCodes } from './otp-schema.ts';

export const confirmOtp = defineOperation({
  name: 'confirm_otp',
  title: 'Confirm a second factor',
  description:
    'Takes the secret of begin_otp into use: from now on the account signs in with a code too. Its other sessions end; API tokens stay.',
  input: z.strictObject({ code: otpText.describe('that the authenticator app shows now') }),
  output: recoveryCodes,
  access: 'person',
  workspace: 'none',
  edition: 'community',
  effects: CREATE,
  confidential: { answer: true, input: ['code'] },
  problems: ['invalid_input', 'unauthenticated', 'forbidden', 'conflict', 'rate_limited'],
  http: { method: 'post', path: '/api/v1/users/me/otp/confirm' },
  run: async (input, context) => ({ recoveryCodes: [...(await confirm(input, context))] }),
});
