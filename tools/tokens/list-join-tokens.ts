import { z } from 'zod';
import { READ } from '../../core/base/operation.ts';
import { tokensOf } from '../../core/identity/token-lists.ts';
import { defineOperation } from '../define.ts';
import { pageOf, pageQuery } from '../page.ts';
import { joinTokenSchema, joinTokenView } from './join-token-view.ts';

export const listJoinTokens = defineOperation({
  name: 'list_join_tokens',
  title: 'List join tokens',
  description: 'The join tokens of the workspace with their uses, without their secrets.',
  input: z.strictObject({ ...pageQuery }),
  output: z.strictObject({ items: z.array(joinTokenSchema), next_cursor: z.string().optional() }),
  columns: { Id: 'id', Name: 'name', Used: 'usedCount', 'At most': 'usageLimit', Ends: 'expiresAt', Labels: 'labels' },
  access: 'tokens:write',
  workspace: 'scoped',
  edition: 'community',
  effects: READ,
  problems: ['invalid_input', 'unauthenticated', 'forbidden', 'not_found'],
  http: { method: 'get', path: '/api/v1/tokens', aliases: ['/api/v1/token/list'] },
  async run(query, { services, workspace }) {
    return pageOf(await tokensOf(services, workspace, 'join'), query, joinTokenView);
  },
});
