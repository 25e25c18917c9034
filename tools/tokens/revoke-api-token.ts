import { z } from 'zod';
import { DELETE } from '../../core/base/operation.ts';
import { lineOfText, TEXT_LIMITS } from '../../core/base/text.ts';
import { revokeApiToken as revoke } from '../../core/identity/api-tokens.ts';
import { defineOperation } from '../define.ts';

export const revokeApiToken = defineOperation({
  name: 'revoke_api_token',
  title: 'Revoke an API token',
  description:
    'Revokes one of the API tokens of the caller in the workspace, with the agents and unused join tokens that were made with it. Devices that joined stay.',
  input: z.strictObject({ id: lineOfText(TEXT_LIMITS.id).min(1) }),
  output: z.strictObject({
    revoked: z.literal(true),
    agents: z.int().describe('How many agents ended with it, sub-agents included'),
    joinTokens: z.int().describe('How many join tokens ended with it'),
  }),
  access: 'person',
  workspace: 'scoped',
  edition: 'community',
  effects: DELETE,
  problems: ['unauthenticated', 'forbidden', 'not_found'],
  http: { method: 'delete', path: '/api/v1/users/me/api-tokens/:id' },
  async run({ id }, context) {
    const { agents, joinTokens } = await revoke(id, context);
    return { revoked: true as const, agents: agents.length, joinTokens: joinTokens.length };
  },
});
