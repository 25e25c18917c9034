import { z } from 'zod';
import { DELETE } from '../../core/base/operation.ts';
import { removePasskey as remove } from '../../core/identity/own-passkeys.ts';
import { defineOperation } from '../define.ts';
import { proof } from './otp-schema.ts';
import { credentialId } from './passkey-schema.ts';

export const removePasskey = defineOperation({
  name: 'remove_passkey',
  title: 'Remove a passkey',
  description:
    'Takes a passkey of the caller away. With the last factor of the account its recovery codes go too. Other sessions of the account end.',
  input: z.strictObject({ id: credentialId.describe('of get_otp_state'), ...proof }),
  output: z.strictObject({ removed: z.literal(true) }),
  access: 'person',
  workspace: 'none',
  edition: 'community',
  effects: { ...DELETE, idempotentHint: false },
  confidential: { input: ['password', 'otp', 'passkey'] },
  whenFull: 'works',
  problems: ['invalid_input', 'unauthenticated', 'forbidden', 'not_found', 'conflict', 'rate_limited'],
  http: { method: 'post', path: '/api/v1/users/me/passkeys/remove' },
  async run(input, context) {
    await remove(input, context);
    return { removed: true as const };
  },
});
