import { z } from 'zod';
import { READ } from '../../core/base/operation.ts';
import { MAX_ISSUERS } from '../../core/model/issuers.ts';
import { defineOperation } from '../define.ts';

export const getSignIn = defineOperation({
  name: 'get_sign_in',
  title: 'Show how people sign in',
  description: 'How people sign in on the dashboard: the issuers of app.oidc, and whether passwords let people in.',
  input: z.strictObject({}),
  output: z.strictObject({
    issuers: z.array(z.strictObject({ name: z.string(), title: z.string() })).max(MAX_ISSUERS),
    passwords: z.boolean().describe('false where a password lets in one account alone, on the host'),
  }),
  access: 'public',
  workspace: 'none',
  edition: 'community',
  effects: READ,
  problems: [],
  http: { method: 'get', path: '/api/v1/users/login/issuers' },
  async run(_input, { services: { settings } }) {
    const { issuers = [], signIn } = settings;
    return {
      issuers: issuers.map(({ name, title }) => ({ name, title })),
      passwords: signIn.onlyLocalAccount === undefined,
    };
  },
});
