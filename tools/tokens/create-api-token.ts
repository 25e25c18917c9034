import { z } from 'zod';
import { CREATE } from '../../core/base/operation.ts';
import { ROLE_SCOPES, type Role, SCOPES, type Scope } from '../../core/base/scope.ts';
import { lineOfText, TEXT_LIMITS } from '../../core/base/text.ts';
import { createApiToken as create } from '../../core/identity/api-tokens.ts';
import { defineOperation } from '../define.ts';
import { apiTokenSchema, apiTokenView } from './api-token-view.ts';

const grantable = z.enum([...SCOPES, ...(Object.keys(ROLE_SCOPES) as Role[])] as [Scope | Role, ...(Scope | Role)[]]);

export const createApiToken = defineOperation({
  name: 'create_api_token',
  title: 'Make an API token',
  description:
    'Makes a token for programs and MCP clients: one workspace, no more than its maker holds there, and never approval. It is shown this once.',
  input: z.strictObject({
    name: lineOfText(TEXT_LIMITS.title).trim().min(1),
    scopes: z
      .array(grantable)
      .min(1)
      .max(32)
      .optional()
      .describe('scopes, or a role for all of its scopes; unset: read, plan and apply'),
    expiry: lineOfText(TEXT_LIMITS.duration)
      .default('')
      .describe('a duration such as 720h; "" for 90 days; at most 365 days'),
    maxGrant: lineOfText(TEXT_LIMITS.duration)
      .optional()
      .describe(
        'longest life of agents and join tokens made with it, such as 24h; unset: they end with it at the latest',
      ),
  }),
  output: apiTokenSchema.extend({ token: z.string() }),
  access: 'person',
  workspace: 'scoped',
  edition: 'community',
  effects: CREATE,
  problems: ['invalid_input', 'unauthenticated', 'forbidden', 'not_found'],
  http: { method: 'post', path: '/api/v1/users/me/api-tokens', status: 201 },
  async run(input, context) {
    const { token, record } = await create(input, context);
    return { token, ...apiTokenView(record) };
  },
});
