import { z } from 'zod';
import { UPDATE } from '../../core/base/operation.ts';
import { denyRequest } from '../../core/identity/oauth-consent.ts';
import { defineOperation } from '../define.ts';
import { goesOn, requestId } from './request-fields.ts';

export const denyClientRequest = defineOperation({
  name: 'deny_client_request',
  title: 'Refuse an OAuth client',
  description: 'Refuses the client of a request, or the command line that asks to be signed in, which is told so.',
  input: z.strictObject({ id: requestId }),
  output: z.strictObject({ url: goesOn }),
  access: 'person',
  workspace: 'none',
  edition: 'community',
  effects: { ...UPDATE, idempotentHint: false },
  problems: ['unauthenticated', 'forbidden', 'not_found', 'conflict'],
  http: { method: 'post', path: '/api/v1/oauth/requests/:id/deny' },
  run: ({ id }, context) => denyRequest(context, id),
});
