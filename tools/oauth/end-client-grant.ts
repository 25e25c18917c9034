import { z } from 'zod';
import { DELETE } from '../../core/base/operation.ts';
import { lineOfText, TEXT_LIMITS } from '../../core/base/text.ts';
import { endOwnGrant } from '../../core/identity/client-grants.ts';
import { defineOperation } from '../define.ts';

export const endClientGrant = defineOperation({
  name: 'end_client_grant',
  title: 'Sign an OAuth client out',
  description:
    'Ends one grant of the caller to an OAuth client: its tokens are refused from then on. Its agent goes on.',
  input: z.strictObject({ id: lineOfText(TEXT_LIMITS.id).min(1).describe('id of list_client_grants') }),
  output: z.strictObject({ ended: z.literal(true) }),
  access: 'person',
  workspace: 'none',
  edition: 'community',
  effects: DELETE,
  problems: ['invalid_input', 'unauthenticated', 'forbidden', 'not_found'],
  http: { method: 'delete', path: '/api/v1/users/me/grants/:id' },
  async run({ id }, context) {
    await endOwnGrant(context, id);
    return { ended: true as const };
  },
});
