import { z } from 'zod';
import { CREATE } from '../../core/base/operation.ts';
import { lineOfText, TEXT_LIMITS } from '../../core/base/text.ts';
import { formatInstant } from '../../core/base/time.ts';
import { finishSignIn } from '../../core/identity/issuer-sign-in.ts';
import { defineOperation } from '../define.ts';

export const finishIssuerSignIn = defineOperation({
  name: 'finish_issuer_sign_in',
  title: 'Finish a sign-in at an issuer',
  description:
    'For the dashboard: exchanges what an issuer sent this browser back with for a session token, good for 12 hours.',
  input: z.strictObject({
    name: lineOfText(TEXT_LIMITS.name).min(1).describe('name of the issuer'),
    query: lineOfText(TEXT_LIMITS.callback).min(1).describe('query of the address that the issuer led back to'),
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
  problems: ['invalid_input', 'unauthenticated', 'forbidden', 'not_found', 'conflict', 'unavailable'],
  http: {
    method: 'post',
    path: '/api/v1/users/login/issuers/:name/finish',
    session: 'begins',
    browserKey: 'used',
  },
  async run(input, context) {
    const { expiresAt, ...session } = await finishSignIn(input, context);
    return { ...session, expiresAt: formatInstant(expiresAt) };
  },
});
