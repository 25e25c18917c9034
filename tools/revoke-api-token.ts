import { z } from 'zod';
import { revokeToken } from '../core/identity/join-tokens.ts';
import { DELETE } from '../core/operation.ts';
import { defineOperation } from './define.ts';

export const revokeApiToken = defineOperation({
  name: 'revoke_api_token',
  title: 'Revoke an API token',
  description: 'Revokes one of the API tokens of the caller in the workspace. It is refused from then on.',
  input: z.strictObject({ id: z.string().min(1).max(64) }),
  output: z.strictObject({ revoked: z.literal(true) }),
  access: 'person',
  workspace: 'scoped',
  edition: 'community',
  effects: DELETE,
  problems: ['unauthenticated', 'forbidden', 'not_found'],
  http: { method: 'delete', path: '/api/v1/users/me/api-tokens/:id' },
  async run({ id }, context) {
    await revokeToken(id, 'api', context);
    return { revoked: true as const };
  },
});
