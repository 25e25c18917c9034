import { z } from 'zod';
import { DELETE } from '../../core/base/operation.ts';
import { lineOfText, TEXT_LIMITS } from '../../core/base/text.ts';
import { revokeToken } from '../../core/identity/join-tokens.ts';
import { defineOperation } from '../define.ts';

export const revokeApiToken = defineOperation({
  name: 'revoke_api_token',
  title: 'Revoke an API token',
  description: 'Revokes one of the API tokens of the caller in the workspace. It is refused from then on.',
  input: z.strictObject({ id: lineOfText(TEXT_LIMITS.id).min(1) }),
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
