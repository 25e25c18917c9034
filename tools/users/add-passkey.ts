import { z } from 'zod';
import { CREATE } from '../../core/base/operation.ts';
import { lineOfText, TEXT_LIMITS } from '../../core/base/text.ts';
import { addPasskey as add } from '../../core/identity/own-passkeys.ts';
import { defineOperation } from '../define.ts';
import { recoveryCodes } from './otp-schema.ts';
import { newCredential } from './passkey-schema.ts';

export const addPasskey = defineOperation({
  name: 'add_passkey',
  title: 'Add a passkey',
  description:
    'Takes the passkey of begin_passkey into use: it signs in alone, and is a second factor beside the password. Other sessions of the account end; API tokens stay.',
  input: z.strictObject({
    name: lineOfText(TEXT_LIMITS.name).min(1).describe('such as Firefox on Linux'),
    passkey: newCredential,
  }),
  output: recoveryCodes,
  access: 'person',
  workspace: 'none',
  edition: 'community',
  effects: CREATE,
  confidential: { answer: true },
  problems: ['invalid_input', 'unauthenticated', 'forbidden', 'conflict'],
  http: { method: 'post', path: '/api/v1/users/me/passkeys' },
  run: async ({ name, passkey }, context) => ({
    recoveryCodes: [...(await add({ name, credential: passkey }, context))],
  }),
});
