import { z } from 'zod';
import { DELETE } from '../../core/base/operation.ts';
import { lineOfText, TEXT_LIMITS } from '../../core/base/text.ts';
import { revokeJoinToken as revoke } from '../../core/identity/join-tokens.ts';
import { defineOperation } from '../define.ts';

export const revokeJoinToken = defineOperation({
  name: 'revoke_join_token',
  title: 'Revoke a join token',
  description: 'Revokes a join token: no further device can join with it. Devices that did stay.',
  input: z.strictObject({
    id: lineOfText(TEXT_LIMITS.title).min(1).describe('its id, or its name where no other has it'),
  }),
  output: z.strictObject({ revoked: z.literal(true) }),
  access: 'tokens:write',
  workspace: 'scoped',
  edition: 'community',
  effects: DELETE,
  problems: ['unauthenticated', 'forbidden', 'not_found', 'conflict'],
  http: { method: 'delete', path: '/api/v1/tokens/:id', aliases: ['/api/v1/token/:id'] },
  async run({ id }, context) {
    await revoke(id, context);
    return { revoked: true as const };
  },
});
