import { z } from 'zod';
import { CREATE } from '../../core/base/operation.ts';
import { lineOfText, TEXT_LIMITS } from '../../core/base/text.ts';
import { formatInstant } from '../../core/base/time.ts';
import { finishCommandLine as finish } from '../../core/identity/command-line-sign-in.ts';
import { defineOperation } from '../define.ts';
import { secretText } from './command-line-fields.ts';

export const finishCommandLineSignIn = defineOperation({
  name: 'finish_command_line_sign_in',
  title: 'Finish the sign-in of a command line',
  description:
    'For `mesh login`: exchanges what a person allowed for a session token; without one while nobody has decided.',
  input: z.strictObject({
    id: lineOfText(TEXT_LIMITS.id).min(1),
    verifier: secretText.describe('whose challenge began the sign-in'),
    key: lineOfText(TEXT_LIMITS.id).optional().describe('what the browser handed over, where there is a listener'),
  }),
  output: z.strictObject({
    session: z
      .strictObject({
        token: z.string().describe('send it as Authorization: Bearer <token>'),
        expiresAt: z.string(),
        username: z.string(),
        passwordChangeRequired: z.boolean(),
        secondFactorRequired: z.literal(true).optional(),
      })
      .optional()
      .describe('absent until the person decided'),
  }),
  access: 'public',
  workspace: 'none',
  edition: 'community',
  effects: CREATE,
  whenFull: 'works',
  problems: ['invalid_input', 'unauthenticated', 'forbidden', 'conflict', 'expired'],
  http: { method: 'post', path: '/api/v1/users/login/command-line/finish' },
  async run(input, context) {
    const session = await finish(input, context);
    return session ? { session: { ...session, expiresAt: formatInstant(session.expiresAt) } } : {};
  },
});
