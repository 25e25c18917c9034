import { z } from 'zod';
import { CREATE } from '../../core/base/operation.ts';
import { lineOfText, TEXT_LIMITS } from '../../core/base/text.ts';
import { ACCOUNT_ROLES, USERNAME_PATTERN, USERNAME_RULE } from '../../core/identity/accounts.ts';
import { createUser as create, requireFreeWord } from '../../core/identity/users.ts';
import { defineOperation } from '../define.ts';
import { changedUserSchema, changedUserView } from './user-view.ts';

export const createUser = defineOperation({
  name: 'create_user',
  title: 'Create an account',
  description: 'Creates an account with an initial password. Make it a member of a workspace to let it in.',
  input: z.strictObject({
    username: lineOfText(TEXT_LIMITS.name).regex(USERNAME_PATTERN, { error: USERNAME_RULE }),
    password: z
      .string()
      .min(1)
      .max(TEXT_LIMITS.password)
      .describe('8 to 256 characters, or more than 8 where app.signIn says so; its person is asked to change it'),
    displayName: lineOfText(TEXT_LIMITS.title).trim().default(''),
    role: z.enum(ACCOUNT_ROLES).default('user'),
  }),
  output: changedUserSchema,
  access: 'users:write',
  workspace: 'none',
  edition: 'community',
  effects: CREATE,
  confidential: { input: ['password'] },
  problems: ['invalid_input', 'unauthenticated', 'forbidden', 'conflict'],
  http: { method: 'post', path: '/api/v1/users', status: 201 },
  async run(input, context) {
    requireFreeWord(input.username);
    return changedUserView(await create(input, context), false);
  },
});
