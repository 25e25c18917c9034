import { z } from 'zod';
import { commitContext } from '../../core/base/commit-context.ts';
import { DELETE } from '../../core/base/operation.ts';
import { plainAddress } from '../../core/base/origin.ts';
import { requireSession } from '../../core/base/require-session.ts';
import { issuerSignOut } from '../../core/identity/issuer-sessions.ts';
import { endSession } from '../../core/identity/sessions.ts';
import { defineOperation } from '../define.ts';

export const signOutUrl = z
  .string()
  .optional()
  .describe('where the issuer that signed the person in signs them out too');

export const logOut = defineOperation({
  name: 'log_out',
  title: 'Log out',
  description: 'Ends the session that makes this call; its token is refused from then on.',
  input: z.strictObject({}),
  output: z.strictObject({
    ended: z.literal(true),
    signOutUrl,
  }),
  access: 'person',
  workspace: 'none',
  edition: 'community',
  effects: DELETE,
  whenFull: 'works',
  problems: ['unauthenticated', 'forbidden'],
  http: { method: 'post', path: '/api/v1/users/logout', session: 'ends' },
  async run(_input, context) {
    const { tokenId, subject } = requireSession(context.caller);
    const event = { type: 'logout', actor: subject, result: 'ok', origin: plainAddress(context.origin) } as const;
    const why = commitContext(context, 'logged out', { securityEvents: [event] });
    const session = await endSession(context.services, tokenId, why);
    const signOutUrl = session && (await issuerSignOut(context.services, session));
    return { ended: true as const, ...(signOutUrl !== undefined && { signOutUrl }) };
  },
});
