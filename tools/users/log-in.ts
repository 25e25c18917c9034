import { z } from 'zod';
import { CREATE } from '../../core/base/operation.ts';
import { lineOfText, TEXT_LIMITS } from '../../core/base/text.ts';
import { formatInstant } from '../../core/base/time.ts';
import { logIn as createSession } from '../../core/identity/login.ts';
import { defineOperation } from '../define.ts';
import { otpText } from './otp-schema.ts';
import { assertion } from './passkey-schema.ts';

export const logIn = defineOperation({
  name: 'log_in',
  title: 'Log in',
  description:
    'Exchanges a user name and password for a session token, good for 12 hours. Of an account with a second factor it takes a code or a passkey too.',
  input: z.strictObject({
    username: lineOfText(TEXT_LIMITS.reference).min(1),
    password: z.string().min(1).max(TEXT_LIMITS.password),
    staySignedIn: z
      .boolean()
      .optional()
      .describe('heeded for the dashboard alone: its browser keeps the session in a cookie that no script can read'),
    client: lineOfText(TEXT_LIMITS.name)
      .optional()
      .describe('what signs in, such as Firefox on Linux: shown in the list of sessions'),
    otp: otpText.optional().describe('code of the authenticator app, or a recovery code; asked for by otp_required'),
    passkey: assertion.optional().describe('in place of a code: a signature by a passkey of the account'),
  }),
  output: z.strictObject({
    token: z.string().describe('send it as Authorization: Bearer <token>'),
    expiresAt: z.string(),
    passwordChangeRequired: z
      .boolean()
      .describe('the password is an initial one or too old: PUT /api/v1/users/me/password'),
    secondFactorRequired: z
      .literal(true)
      .optional()
      .describe('a second factor has to be enrolled first: POST /api/v1/users/me/otp'),
  }),
  access: 'public',
  workspace: 'none',
  edition: 'community',
  effects: CREATE,
  whenFull: 'works',
  problems: [
    'invalid_input',
    'unauthenticated',
    'otp_required',
    'forbidden',
    'conflict',
    'rate_limited',
    'unavailable',
  ],
  http: { method: 'post', path: '/api/v1/users/login', envelope: 'data', session: 'begins' },
  async run(input, context) {
    const { expiresAt, ...session } = await createSession(input, context);
    return { ...session, expiresAt: formatInstant(expiresAt) };
  },
});
