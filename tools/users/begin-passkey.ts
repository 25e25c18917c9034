import { z } from 'zod';
import { CREATE } from '../../core/base/operation.ts';
import { beginPasskey as begin } from '../../core/identity/own-passkeys.ts';
import { MAX_PASSKEYS, PASSKEY_ALGORITHMS } from '../../core/model/passkeys.ts';
import { defineOperation } from '../define.ts';
import { proof } from './otp-schema.ts';
import { challenge, dashboardOrigin } from './passkey-schema.ts';

export const beginPasskey = defineOperation({
  name: 'begin_passkey',
  title: 'Begin to add a passkey',
  description:
    'For the dashboard: what an authenticator needs to make a passkey. Nothing changes until add_passkey is called in the same session.',
  input: z.strictObject({ origin: dashboardOrigin, ...proof }),
  output: z.strictObject({
    ...challenge,
    user: z.strictObject({ id: z.string(), name: z.string(), displayName: z.string() }),
    algorithms: z
      .array(z.int())
      .max(PASSKEY_ALGORITHMS.length)
      .describe('COSE algorithms of its key, the preferred one first'),
    exclude: z.array(z.string()).max(MAX_PASSKEYS).describe('passkeys that the account has'),
  }),
  access: 'person',
  workspace: 'none',
  edition: 'community',
  effects: CREATE,
  confidential: { input: ['password', 'otp', 'passkey'] },
  problems: ['invalid_input', 'unauthenticated', 'forbidden', 'conflict', 'rate_limited'],
  http: { method: 'post', path: '/api/v1/users/me/passkeys/begin' },
  async run(input, context) {
    const { exclude, ...begun } = await begin(input, context);
    return { ...begun, algorithms: [...PASSKEY_ALGORITHMS], exclude: [...exclude] };
  },
});
