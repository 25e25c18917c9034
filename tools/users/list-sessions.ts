import { z } from 'zod';
import { READ } from '../../core/base/operation.ts';
import { requireSession } from '../../core/base/require-session.ts';
import { formatInstant } from '../../core/base/time.ts';
import { liveSessions } from '../../core/identity/sessions.ts';
import { defineOperation } from '../define.ts';
import { pageOf, pageQuery } from '../page.ts';

export const listSessions = defineOperation({
  name: 'list_sessions',
  title: 'List sessions',
  description: 'Where the caller is signed in now: every session of the account that has not ended.',
  input: z.strictObject({ ...pageQuery }),
  output: z.strictObject({
    items: z.array(
      z.strictObject({
        id: z.string(),
        current: z.boolean().describe('the one that makes this call'),
        createdAt: z.string(),
        expiresAt: z.string(),
        origin: z.string().optional().describe('the address that signed in'),
        client: z.string().optional().describe('what signed in, in its own words'),
        usedAt: z.string().optional().describe('kept now and then, where sessions end without use'),
      }),
    ),
    next_cursor: z.string().optional(),
  }),
  columns: { Id: 'id', Current: 'current', From: 'origin', Client: 'client', Began: 'createdAt', Ends: 'expiresAt' },
  access: 'person',
  workspace: 'none',
  edition: 'community',
  effects: READ,
  problems: ['invalid_input', 'unauthenticated', 'forbidden'],
  http: { method: 'get', path: '/api/v1/users/me/sessions' },
  async run(query, { services, caller }) {
    const { id, tokenId } = requireSession(caller);
    return pageOf(await liveSessions(services, id), query, ({ uid, spec, createdAt }) => ({
      id: uid,
      current: uid === tokenId,
      createdAt: formatInstant(createdAt),
      expiresAt: formatInstant(spec.expiresAt),
      ...(spec.origin !== undefined && { origin: spec.origin }),
      ...(spec.client !== undefined && { client: spec.client }),
      ...(spec.usedAt !== undefined && { usedAt: formatInstant(spec.usedAt) }),
    }));
  },
});
