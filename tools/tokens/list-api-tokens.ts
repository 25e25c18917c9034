import { z } from 'zod';
import { READ } from '../../core/base/operation.ts';
import { liveApiTokens } from '../../core/identity/token-lists.ts';
import { defineOperation } from '../define.ts';
import { pageOf, pageQuery } from '../page.ts';
import { apiTokenSchema, apiTokenView } from './api-token-view.ts';

export const listApiTokens = defineOperation({
  name: 'list_api_tokens',
  title: 'List API tokens',
  description: "The caller's API tokens in the workspace, without their secrets.",
  input: z.strictObject({ ...pageQuery }),
  output: z.strictObject({ items: z.array(apiTokenSchema), next_cursor: z.string().optional() }),
  columns: { Id: 'id', Name: 'name', Ends: 'expiresAt', Scopes: 'scopes' },
  access: 'person',
  workspace: 'scoped',
  edition: 'community',
  effects: READ,
  problems: ['invalid_input', 'unauthenticated', 'forbidden', 'not_found'],
  http: { method: 'get', path: '/api/v1/users/me/api-tokens' },
  async run(query, { services, workspace, caller }) {
    return pageOf(await liveApiTokens(services, workspace, caller.id), query, apiTokenView);
  },
});
