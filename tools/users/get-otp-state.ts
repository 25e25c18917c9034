import { z } from 'zod';
import { READ } from '../../core/base/operation.ts';
import { formatInstant } from '../../core/base/time.ts';
import { otpState } from '../../core/identity/second-factor.ts';
import { defineOperation } from '../define.ts';

export const getOtpState = defineOperation({
  name: 'get_otp_state',
  title: 'Show the second factor',
  description:
    'Whether the account of the caller has a second factor, and how many recovery codes are left; no secret.',
  input: z.strictObject({}),
  output: z.strictObject({
    enrolled: z.boolean(),
    since: z.string().optional(),
    recoveryCodesLeft: z.int(),
    required: z.boolean().describe('whether one has to be enrolled before anything else'),
  }),
  access: 'person',
  workspace: 'none',
  edition: 'community',
  effects: READ,
  problems: ['unauthenticated', 'forbidden'],
  http: { method: 'get', path: '/api/v1/users/me/otp' },
  async run(_input, context) {
    const { since, ...state } = await otpState(context);
    return { ...state, ...(since !== undefined && { since: formatInstant(since) }) };
  },
});
