import { z } from 'zod';
import { CREATE } from '../../core/base/operation.ts';
import { lineOfText, TEXT_LIMITS } from '../../core/base/text.ts';
import { beginSignIn } from '../../core/identity/issuer-sign-in.ts';
import { defineOperation } from '../define.ts';

export const beginIssuerSignIn = defineOperation({
  name: 'begin_issuer_sign_in',
  title: 'Begin a sign-in at an issuer',
  description:
    'For the dashboard: the address at the issuer where this browser goes on. Other clients log in with a password.',
  input: z.strictObject({
    name: lineOfText(TEXT_LIMITS.name).min(1).describe('name of the issuer'),
    origin: lineOfText(TEXT_LIMITS.hostname)
      .min(1)
      .describe('of the dashboard: one of app.publicUrls, or the loopback'),
  }),
  output: z.strictObject({ url: z.string() }),
  access: 'public',
  workspace: 'none',
  edition: 'community',
  effects: CREATE,
  whenFull: 'works',
  problems: ['invalid_input', 'unauthenticated', 'not_found', 'unavailable'],
  http: { method: 'post', path: '/api/v1/users/login/issuers/:name/begin', browserKey: 'made' },
  async run({ name, origin }, context) {
    return { url: await beginSignIn(name, origin, context) };
  },
});
