import { z } from 'zod';
import { SYSTEM_WORKSPACE } from '../../core/base/ids.ts';
import { READ } from '../../core/base/operation.ts';
import { formatInstant } from '../../core/base/time.ts';
import { defineOperation } from '../define.ts';
import { pageOf, pageQuery } from '../page.ts';
import { userSchema, userView } from './user-view.ts';

export const listUsers = defineOperation({
  name: 'list_users',
  title: 'List accounts',
  description: 'Every account of the installation, by name.',
  input: z.strictObject({ ...pageQuery }),
  output: z.strictObject({
    items: z.array(
      userSchema.extend({
        lockedUntil: z
          .string()
          .optional()
          .describe('while failed logins lock it for the addresses that they came from; the last of its locks'),
      }),
    ),
    next_cursor: z.string().optional(),
  }),
  columns: {
    Name: 'username',
    Role: 'role',
    Disabled: 'disabled',
    'Password to change': 'passwordChangeRequired',
    'Second factor': 'secondFactor',
    Locked: 'lockedUntil',
    Created: 'createdAt',
  },
  access: 'users:write',
  workspace: 'none',
  edition: 'community',
  effects: READ,
  problems: ['invalid_input', 'unauthenticated', 'forbidden'],
  http: { method: 'get', path: '/api/v1/users' },
  async run(query, { services: { store, logins } }) {
    const { items } = await store.list(SYSTEM_WORKSPACE, 'Account');
    const locksOf = await logins.locksOf(items.map(({ name }) => name));
    return pageOf(items, query, (account) => {
      const locks = (locksOf.get(account.name) ?? []).map(({ until }) => until);
      return { ...userView(account), ...(locks.length > 0 && { lockedUntil: formatInstant(Math.max(...locks)) }) };
    });
  },
});
