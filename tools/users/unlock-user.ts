import { z } from 'zod';
import { UPDATE } from '../../core/base/operation.ts';
import { lineOfText, TEXT_LIMITS } from '../../core/base/text.ts';
import { unlockUser as unlock } from '../../core/identity/unlock-user.ts';
import { defineOperation } from '../define.ts';

export const unlockUser = defineOperation({
  name: 'unlock_user',
  title: 'Unlock an account',
  description: 'Takes the locks away that failed logins put on an account, wherever they came from.',
  input: z.strictObject({ username: lineOfText(TEXT_LIMITS.name).min(1) }),
  output: z.strictObject({ lifted: z.int().describe('locks that there were') }),
  access: 'users:write',
  workspace: 'none',
  edition: 'community',
  effects: UPDATE,
  whenFull: 'leaves the last',
  problems: ['invalid_input', 'unauthenticated', 'forbidden', 'not_found'],
  http: { method: 'post', path: '/api/v1/users/:username/unlock' },
  run: async ({ username }, context) => ({ lifted: await unlock(username, context) }),
});
