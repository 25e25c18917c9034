import { z } from 'zod';
import { CREATE } from '../../core/base/operation.ts';
import { formatInstant } from '../../core/base/time.ts';
import { beginOtp as begin } from '../../core/identity/second-factor.ts';
import { defineOperation } from '../define.ts';
import { proof } from './otp-schema.ts';

export const beginOtp = defineOperation({
  name: 'begin_otp',
  title: 'Begin to enrol a second factor',
  description:
    'Makes a secret for an authenticator app. Nothing changes until confirm_otp is called with a code of it, in the same session.',
  input: z.strictObject(proof),
  output: z.strictObject({
    uri: z.string().describe('otpauth: address that the app reads from a QR code; holds the secret'),
    secret: z.string().describe('the same to be typed in; shown here and never again'),
    expiresAt: z.string().describe('until when it can be confirmed'),
  }),
  access: 'person',
  workspace: 'none',
  edition: 'community',
  effects: CREATE,
  confidential: { answer: true, input: ['password', 'otp', 'passkey'] },
  problems: ['invalid_input', 'unauthenticated', 'forbidden', 'conflict', 'rate_limited'],
  http: { method: 'post', path: '/api/v1/users/me/otp' },
  async run(input, context) {
    const { expiresAt, ...begun } = await begin(input, context);
    return { ...begun, expiresAt: formatInstant(expiresAt) };
  },
});
