import { z } from 'zod';
import { commitContext } from '../../core/base/commit-context.ts';
import { MeshError } from '../../core/base/errors.ts';
import { DELETE } from '../../core/base/operation.ts';
import { plainAddress } from '../../core/base/origin.ts';
import { requireSession } from '../../core/base/require-session.ts';
import { lineOfText, TEXT_LIMITS } from '../../core/base/text.ts';
import { endSession as end, liveSessions } from '../../core/identity/sessions.ts';
import { defineOperation } from '../define.ts';

export const endSession = defineOperation({
  name: 'end_session',
  title: 'End a session',
  description: 'Ends one of the sessions of the caller, on whatever machine; its token is refused from then on.',
  input: z.strictObject({ id: lineOfText(TEXT_LIMITS.id).min(1).describe('id of list_sessions') }),
  output: z.strictObject({ ended: z.literal(true) }),
  access: 'person',
  workspace: 'none',
  edition: 'community',
  effects: DELETE,
  problems: ['invalid_input', 'unauthenticated', 'forbidden', 'not_found'],
  http: { method: 'delete', path: '/api/v1/users/me/sessions/:id' },
  async run({ id }, context) {
    const { id: account, subject } = requireSession(context.caller);
    const own = await liveSessions(context.services, account);
    if (!own.some(({ uid }) => uid === id)) {
      throw new MeshError('not_found', `You have no session ${id}: list_sessions shows those there are.`);
    }
    const event = {
      type: 'session.ended',
      actor: subject,
      result: 'ok',
      origin: plainAddress(context.origin),
      detail: { session: id },
    } as const;
    await end(context.services, id, commitContext(context, 'ended a session', { securityEvents: [event] }));
    return { ended: true as const };
  },
});
