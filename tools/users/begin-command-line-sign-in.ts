import { z } from 'zod';
import { CREATE } from '../../core/base/operation.ts';
import { lineOfText, TEXT_LIMITS } from '../../core/base/text.ts';
import { formatInstant } from '../../core/base/time.ts';
import { beginCommandLine as begin } from '../../core/identity/command-line-sign-in.ts';
import { defineOperation } from '../define.ts';
import { hostText, POLL_S, secretText } from './command-line-fields.ts';

export const beginCommandLineSignIn = defineOperation({
  name: 'begin_command_line_sign_in',
  title: 'Begin the sign-in of a command line',
  description:
    'For `mesh login`: the page on which a person allows a command line to sign in as them, for ten minutes.',
  input: z.strictObject({
    host: hostText.describe('name of its machine, which the page shows'),
    challenge: secretText.describe('SHA-256 of the verifier, base64url'),
    server: lineOfText(TEXT_LIMITS.hostname)
      .min(1)
      .describe('origin of the control plane: one of app.publicUrls, or the loopback'),
    listener: z
      .strictObject({ port: z.int().min(1).max(65_535), state: secretText })
      .optional()
      .describe('where it waits on the loopback of the browser; without one the person types a code'),
  }),
  output: z.strictObject({
    id: z.string(),
    page: z.string().describe('address for the person'),
    userCode: z.string().optional().describe('what the person types there'),
    expiresAt: z.string(),
    interval: z.int().describe('seconds between two calls of finish_command_line_sign_in'),
  }),
  access: 'public',
  workspace: 'none',
  edition: 'community',
  effects: CREATE,
  whenFull: 'works',
  problems: ['invalid_input', 'rate_limited'],
  http: { method: 'post', path: '/api/v1/users/login/command-line/begin' },
  async run(input, context) {
    const { expiresAt, ...begun } = await begin(input, context);
    return { ...begun, expiresAt: formatInstant(expiresAt), interval: POLL_S };
  },
});
