import { z } from 'zod';
import { CREATE } from '../../core/base/operation.ts';
import { lineOfText, TEXT_LIMITS } from '../../core/base/text.ts';
import { formatInstant } from '../../core/base/time.ts';
import { logInWithPasskey as createSession } from '../../core/identity/login.ts';
import { defineOperation } from '../define.ts';
import { assertion } from './passkey-schema.ts';

export const logInWithPasskey = defineOperation({
  name: 'log_in_with_passkey',
  title: 'Log in with a passkey',
  description:
    'For the dashboard: exchanges a signature by a passkey alone for a session token, good for 12 hours. Nobody names the account.',
  input: z.strictObject({
    passkey: assertion,
    staySignedIn: z.boolean().optional().describe('the browser keeps the session in a cookie that no script can read'),
    client: lineOfText(TEXT_LIMITS.name).optional().describe('what signs in, such as Firefox on Linux'),
  }),
  output: z.strictObject({
    token: z.string().describe('send it as Authorization: Bearer <token>'),
    expiresAt: z.string(),
    username: z.string(),
  }),
  access: 'public',
  workspace: 'none',
  edition: 'community',
  effects: CREATE,
  whenFull: 'works',
  problems: ['invalid_input', 'unauthenticated', 'forbidden', 'conflict', 'rate_limited'],
  http: { method: 'post', path: '/api/v1/users/login/passkeys', session: 'begins' },
  async run(input, context) {
    const { expiresAt, ...session } = await createSession(input, context);
    return { ...session, expiresAt: formatInstant(expiresAt) };
  },
});
