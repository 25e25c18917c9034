import { z } from 'zod';
import { MeshError } from '../../core/base/errors.ts';
import { READ } from '../../core/base/operation.ts';
import { lineOfText, TEXT_LIMITS } from '../../core/base/text.ts';
import { liveApiTokens } from '../../core/identity/token-lists.ts';
import { callColumns, callsPage, callsPageOf, callsQuery } from '../agents/traced-call-view.ts';
import { defineOperation } from '../define.ts';

export const listApiTokenCalls = defineOperation({
  name: 'list_api_token_calls',
  title: 'List what was called with an API token',
  description:
    "The last calls with one of the caller's API tokens, newest first: operation, arguments and result, cut and without secrets.",
  input: z.strictObject({ id: lineOfText(TEXT_LIMITS.id).min(1), ...callsQuery }),
  output: callsPage,
  columns: callColumns,
  access: 'person',
  workspace: 'scoped',
  edition: 'community',
  effects: READ,
  problems: ['invalid_input', 'unauthenticated', 'forbidden', 'not_found'],
  http: { method: 'get', path: '/api/v1/users/me/api-tokens/:id/calls' },
  async run({ id, ...query }, { services, workspace, caller }) {
    const own = await liveApiTokens(services, workspace, caller.id);
    if (!own.some(({ uid }) => uid === id)) throw new MeshError('not_found', 'You have no such API token here.');
    return callsPageOf(await services.calls.of({ workspace, caller: id, family: id }), query);
  },
});
