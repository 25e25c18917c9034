import { z } from 'zod';
import { CREATE } from '../../core/base/operation.ts';
import { allowCommandLine as allow } from '../../core/identity/command-line-sign-in.ts';
import { defineOperation } from '../define.ts';
import { goesOn, requestId } from './request-fields.ts';

export const allowCommandLine = defineOperation({
  name: 'allow_command_line',
  title: 'Sign a command line in',
  description:
    'Lets the command line of a request sign in as the caller: its session is one of theirs, and ends when the one that makes this call would.',
  input: z.strictObject({ id: requestId }),
  output: z.strictObject({ url: goesOn }),
  access: 'person',
  workspace: 'none',
  edition: 'community',
  effects: CREATE,
  whenFull: 'works',
  problems: ['invalid_input', 'unauthenticated', 'forbidden', 'not_found', 'conflict'],
  http: { method: 'post', path: '/api/v1/oauth/requests/:id/sign-in' },
  run: ({ id }, context) => allow(context, id),
});
