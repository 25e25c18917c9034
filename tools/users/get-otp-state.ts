import { z } from 'zod';
import { READ } from '../../core/base/operation.ts';
import { formatInstant } from '../../core/base/time.ts';
import { otpState } from '../../core/identity/second-factor.ts';
import { MAX_PASSKEYS } from '../../core/model/passkeys.ts';
import { defineOperation } from '../define.ts';

export const getOtpState = defineOperation({
  name: 'get_otp_state',
  title: 'Show the second factor',
  description:
    'The second factor of the caller: whether there is an authenticator app, which passkeys, and how many recovery codes are left; no secret.',
  input: z.strictObject({}),
  output: z.strictObject({
    enrolled: z.boolean().describe('whether there is an authenticator app'),
    since: z.string().optional(),
    recoveryCodesLeft: z.int(),
    required: z.boolean().describe('whether one has to be enrolled before anything else'),
    passkeys: z
      .array(z.strictObject({ id: z.string(), name: z.string(), host: z.string(), createdAt: z.string() }))
      .max(MAX_PASSKEYS)
      .describe('each signs in to one host name'),
  }),
  access: 'person',
  workspace: 'none',
  edition: 'community',
  effects: READ,
  problems: ['unauthenticated', 'forbidden'],
  http: { method: 'get', path: '/api/v1/users/me/otp' },
  async run(_input, context) {
    const { since, passkeys, ...state } = await otpState(context);
    const listed = passkeys.map(({ id, name, host, since: at }) => ({ id, name, host, createdAt: formatInstant(at) }));
    return { ...state, passkeys: listed, ...(since !== undefined && { since: formatInstant(since) }) };
  },
});
