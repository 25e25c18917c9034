import { z } from 'zod';
import { READ } from '../../core/base/operation.ts';
import { SCOPES, type Scope } from '../../core/base/scope.ts';
import { formatInstant } from '../../core/base/time.ts';
import { ownGrants } from '../../core/identity/client-grants.ts';
import { defineOperation } from '../define.ts';
import { pageOf, pageQuery } from '../page.ts';

export const listClientGrants = defineOperation({
  name: 'list_client_grants',
  title: 'List the OAuth clients of a person',
  description: 'The OAuth clients that act for the caller, in every workspace, each with its agent.',
  input: z.strictObject({ ...pageQuery }),
  output: z.strictObject({
    items: z.array(
      z.strictObject({
        id: z.string(),
        client: z.strictObject({
          name: z.string().describe('As it calls itself'),
          host: z.string().describe('Where its codes were sent'),
        }),
        resource: z.string().describe('The MCP endpoint that it uses'),
        workspace: z.string().describe('Name in addresses'),
        agent: z.string().describe('Name of the agent'),
        scopes: z.array(z.enum(SCOPES)),
        grantedAt: z.string(),
        expiresAt: z.string().describe('When the agent ends'),
      }),
    ),
    next_cursor: z.string().optional(),
  }),
  columns: {
    Id: 'id',
    Client: 'client.name',
    Host: 'client.host',
    Workspace: 'workspace',
    Agent: 'agent',
    Granted: 'grantedAt',
    Ends: 'expiresAt',
  },
  access: 'person',
  workspace: 'none',
  edition: 'community',
  effects: READ,
  problems: ['invalid_input', 'unauthenticated', 'forbidden'],
  http: { method: 'get', path: '/api/v1/users/me/grants' },
  async run(query, context) {
    return pageOf(await ownGrants(context), query, ({ record, grant, client, agent, workspace }) => ({
      id: record.uid,
      client: { name: client.name, host: client.host },
      resource: grant.resource,
      workspace: workspace.spec.slug,
      agent: agent.name,
      scopes: grant.scopes as Scope[],
      grantedAt: formatInstant(grant.grantedAt),
      expiresAt: agent.spec.expiresAt,
    }));
  },
});
