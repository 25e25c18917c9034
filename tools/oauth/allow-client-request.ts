import { z } from 'zod';
import { UPDATE } from '../../core/base/operation.ts';
import { MAKES_ROOT_AGENTS, rootAgentFields } from '../../core/identity/agent-request.ts';
import { allowClient } from '../../core/identity/oauth-consent.ts';
import { defineOperation } from '../define.ts';
import { goesOn, requestId } from './request-fields.ts';

const { scopes, ttl, policyPreset, reach } = rootAgentFields;

export const allowClientRequest = defineOperation({
  name: 'allow_client_request',
  title: 'Let an OAuth client in',
  description:
    'Lets the client of a request act as a root agent of the caller, with at most what it asked for. The agent that the client has already is changed, but for what is left out.',
  input: z.strictObject({
    id: requestId,
    scopes: scopes
      .unwrap()
      .optional()
      .describe('Of those that the client asks for; the ones to read and plan when left out'),
    ttl,
    policyPreset: policyPreset.unwrap().optional(),
    reach: reach.unwrap().optional(),
  }),
  output: z.strictObject({ agent: z.string().describe('Name of the agent'), url: goesOn }),
  access: MAKES_ROOT_AGENTS,
  workspace: 'scoped',
  edition: 'community',
  effects: { ...UPDATE, idempotentHint: false },
  problems: ['invalid_input', 'not_found', 'conflict'],
  http: { method: 'post', path: '/api/v1/oauth/requests/:id/allow' },
  run: ({ id, ...consent }, context) => allowClient(context, id, consent),
});
