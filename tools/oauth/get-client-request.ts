import { z } from 'zod';
import { READ } from '../../core/base/operation.ts';
import { requireSession } from '../../core/base/require-session.ts';
import { schemaNames } from '../../core/base/schema-names.ts';
import { findRequest } from '../../core/identity/oauth-consent.ts';
import { agentClientKey } from '../../core/model/oauth.ts';
import { defineOperation } from '../define.ts';
import { askedScopes, requestId } from './request-fields.ts';

const signInRequest = z
  .strictObject({
    commandLine: z.strictObject({
      host: z.string().describe('Name of its machine, as it says itself: nobody checked it'),
      origin: z.string().describe('Address that it asks from'),
      isElsewhere: z.boolean().describe('It shows a code, which counts on whatever machine it is typed'),
    }),
    isDecided: z.boolean(),
  })
  .register(schemaNames, { name: 'SignInRequest' });

export const getClientRequest = defineOperation({
  name: 'get_client_request',
  title: 'Get the request of an OAuth client',
  description:
    'Which client asks to act for the caller, where its codes go, and what it asks for; or which command line asks to be signed in as the caller.',
  input: z.strictObject({ id: requestId }),
  output: z.union([
    z.strictObject({
      client: z.strictObject({
        key: z.string().describe('The same as in its agents, where it has some'),
        name: z.string().describe('As it calls itself: nobody checked it'),
        host: z.string().describe('Where its codes are sent'),
        redirectUri: z.string().optional().describe('Absent where a device asks'),
        document: z.string().optional().describe('Address of its metadata, where it has such: that site describes it'),
      }),
      resource: z.string().describe('The MCP endpoint that it wants to use'),
      scopes: askedScopes,
      origin: z.string().optional().describe('Address that a device asks from'),
      isDecided: z.boolean(),
    }),
    signInRequest,
  ]),
  access: 'person',
  workspace: 'none',
  edition: 'community',
  effects: READ,
  problems: ['unauthenticated', 'forbidden', 'not_found'],
  http: { method: 'get', path: '/api/v1/oauth/requests/:id' },
  async run({ id }, context) {
    requireSession(context.caller);
    const signIn = await context.services.signInRequests.find(id);
    if (signIn) {
      const commandLine = { host: signIn.host, origin: signIn.origin, isElsewhere: signIn.returnTo === undefined };
      return { commandLine, isDecided: signIn.decision !== undefined };
    }
    const { client, redirectUri, origin, resource, scopes, decision } = await findRequest(context, id);
    const { id: clientId, ...shown } = client;
    const key = agentClientKey(clientId, resource);
    return {
      client: { key, ...shown, ...(redirectUri !== undefined && { redirectUri }) },
      resource,
      scopes: [...scopes],
      ...(origin !== undefined && { origin }),
      isDecided: decision !== undefined,
    };
  },
});
