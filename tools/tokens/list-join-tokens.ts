import { z } from 'zod';
import { READ } from '../../core/base/operation.ts';
import { tokensOf } from '../../core/identity/token-lists.ts';
import { defineOperation } from '../define.ts';
import { pageOf, pageQuery } from '../page.ts';
import { joinTokenSchema, joinTokenView } from './join-token-view.ts';

/** Devices that are named with one token. */
const MAX_JOINED = 50;

const listedSchema = joinTokenSchema.extend({
  joined: z
    .array(z.string())
    .max(MAX_JOINED)
    .optional()
    .describe(`Peers that joined with it, at most ${MAX_JOINED}; absent without network:read`),
});

export const listJoinTokens = defineOperation({
  name: 'list_join_tokens',
  title: 'List join tokens',
  description: 'The join tokens of the workspace with their uses and the devices that joined, without their secrets.',
  input: z.strictObject({ ...pageQuery }),
  output: z.strictObject({ items: z.array(listedSchema), next_cursor: z.string().optional() }),
  columns: {
    Id: 'id',
    Name: 'name',
    Used: 'usedCount',
    'At most': 'usageLimit',
    Ends: 'expiresAt',
    Labels: 'labels',
    'Token of a rule': 'token',
  },
  access: 'tokens:write',
  workspace: 'scoped',
  edition: 'community',
  effects: READ,
  problems: ['invalid_input', 'unauthenticated', 'forbidden', 'not_found'],
  http: { method: 'get', path: '/api/v1/tokens', aliases: ['/api/v1/token/list'] },
  async run(query, { services, workspace, caller }) {
    const mayList = caller.scopesIn(workspace).has('network:read');
    const { peers } = await services.states.current(workspace);
    const byToken = Map.groupBy(mayList ? peers.values() : [], ({ status }) => status.tokenId);
    return pageOf(await tokensOf(services, workspace, 'join'), query, (token) => {
      const names = (byToken.get(token.uid) ?? []).map(({ name }) => name).toSorted();
      return { ...joinTokenView(token, services), ...(mayList && { joined: names.slice(0, MAX_JOINED) }) };
    });
  },
});
