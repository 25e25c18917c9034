import { z } from 'zod';
import { DELETE } from '../../core/base/operation.ts';
import { signOutEverywhere } from '../../core/identity/client-grants.ts';
import { defineOperation } from '../define.ts';
import { signOutUrl } from './log-out.ts';

export const logOutEverywhere = defineOperation({
  name: 'log_out_everywhere',
  title: 'Log out everywhere',
  description:
    'Ends every session of the caller, this one too, and every grant to an OAuth client. API tokens and agents go on.',
  input: z.strictObject({}),
  output: z.strictObject({
    sessions: z.int().describe('Sessions that ended'),
    grants: z.int().describe('Grants to OAuth clients that ended'),
    signOutUrl,
  }),
  access: 'person',
  workspace: 'none',
  edition: 'community',
  effects: DELETE,
  whenFull: 'works',
  problems: ['unauthenticated', 'forbidden'],
  http: { method: 'post', path: '/api/v1/users/logout/everywhere', session: 'ends' },
  run: (_input, context) => signOutEverywhere(context),
});
