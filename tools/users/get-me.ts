import { z } from 'zod';
import { READ } from '../../core/base/operation.ts';
import { ROLE_SCOPES, type Role } from '../../core/base/scope.ts';
import { formatInstant } from '../../core/base/time.ts';
import { whoAmI } from '../../core/identity/who-am-i.ts';
import { defineOperation } from '../define.ts';
import { fitting } from '../page.ts';
import { userSchema, userView } from './user-view.ts';

/** Workspaces of one answer. */
export const MAX_WORKSPACES = 200;

const roles = Object.keys(ROLE_SCOPES) as [Role, ...Role[]];

export const getMe = defineOperation({
  name: 'get_me',
  title: 'Show the caller',
  description: 'The account behind the token, its workspaces and its role in each.',
  input: z.strictObject({}),
  output: userSchema.extend({
    interactive: z.boolean().describe('true for a session, false for an API token'),
    expiresAt: z.string().nullable().describe('when the token ends'),
    omitted_workspaces: z.int().describe('left out here; list_workspaces shows all, page by page'),
    workspaces: z.array(
      z.strictObject({
        id: z.string(),
        slug: z.string(),
        namespace: z.string(),
        displayName: z.string(),
        role: z.enum(roles),
        scopes: z.array(z.string()).describe('what this token may do there'),
      }),
    ),
  }),
  access: 'person',
  workspace: 'none',
  edition: 'community',
  effects: READ,
  problems: ['unauthenticated', 'forbidden'],
  http: { method: 'get', path: '/api/v1/users/me' },
  async run(_input, context) {
    const { account, caller, memberships } = await whoAmI(context);
    const workspaces = fitting(memberships, MAX_WORKSPACES, ({ workspace: { uid, spec }, role, scopes }) => {
      const { slug, namespace, displayName } = spec;
      return { id: uid, slug, namespace, displayName, role, scopes: [...scopes] };
    });
    const expiresAt = caller.expiresAt === undefined ? null : formatInstant(caller.expiresAt);
    return {
      ...userView(account),
      interactive: caller.interactive,
      expiresAt,
      workspaces,
      omitted_workspaces: memberships.length - workspaces.length,
    };
  },
});
