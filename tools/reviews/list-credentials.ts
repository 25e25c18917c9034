import { z } from 'zod';
import { READ } from '../../core/base/operation.ts';
import { lineOfText, TEXT_LIMITS } from '../../core/base/text.ts';
import { formatInstant } from '../../core/base/time.ts';
import { CREDENTIAL_TYPES, inventory } from '../../core/compliance/inventory.ts';
import { requireWholeLog } from '../../core/identity/audit-reach.ts';
import { defineOperation } from '../define.ts';
import { pageQuery } from '../page.ts';

const DAY_MS = 86_400_000;

export const listCredentials = defineOperation({
  name: 'list_credentials',
  title: 'List keys and tokens',
  description:
    'The keys, tokens, webhooks and schedules of the workspace with their ages and owners, and to platform administrators the keys of the installation. Never a secret.',
  input: z.strictObject({
    ...pageQuery,
    cursor: lineOfText(TEXT_LIMITS.cursor).regex(/^\d\./, { error: 'The next_cursor of the page before.' }).optional(),
  }),
  output: z.strictObject({
    items: z.array(
      z.strictObject({
        type: z.enum(CREDENTIAL_TYPES),
        id: z.string(),
        name: z.string(),
        since: z.string().describe('An instant, or unknown'),
        age_days: z.int().nullable(),
        ends: z.string().nullable(),
        state: z.enum(['in use', 'ended', 'used up']),
        made_by: z.string().nullable(),
        grants: z.string().nullable().describe('Labels, labels that devices may ask for, network, scopes, uses'),
        owner: z.string().nullable().describe('user name of the person who answers for it; null where none does'),
      }),
    ),
    next_cursor: z.string().optional(),
  }),
  columns: {
    Type: 'type',
    Name: 'name',
    Id: 'id',
    Since: 'since',
    Days: 'age_days',
    Ends: 'ends',
    State: 'state',
    By: 'made_by',
    Grants: 'grants',
    Owner: 'owner',
  },
  access: 'compliance:assess',
  workspace: 'scoped',
  edition: 'pro',
  effects: READ,
  problems: ['invalid_input', 'beyond_delegation'],
  http: { method: 'get', path: '/api/v1/ai/compliance/inventory' },
  async run({ cursor, limit }, context) {
    await requireWholeLog(context);
    const { services, workspace, caller } = context;
    // A platform administrator, who has every workspace, also sees the credentials of the installation.
    const installation = caller.workspaces === 'all' && caller.scopesIn(workspace).has('workspaces:write');
    const { items, next } = await inventory(services, workspace, { cursor, limit, installation });
    const now = services.clock.now();
    return {
      items: items.map(({ type, id, name, since, ends, state, madeBy, grants, owner }) => ({
        type,
        id,
        name,
        since: since === undefined ? 'unknown' : formatInstant(since),
        age_days: since === undefined ? null : Math.floor(Math.max(0, now - since) / DAY_MS),
        ends: ends === undefined ? null : formatInstant(ends),
        state,
        made_by: madeBy ?? null,
        grants: grants ?? null,
        owner: owner ?? null,
      })),
      ...(next !== undefined && { next_cursor: next }),
    };
  },
});
