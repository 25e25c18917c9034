import { z } from 'zod';
import { CREATE } from '../../core/base/operation.ts';
import { passkeyChallenge } from '../../core/identity/passkeys.ts';
import { defineOperation } from '../define.ts';
import { challenge, dashboardOrigin } from './passkey-schema.ts';

export const createPasskeyChallenge = defineOperation({
  name: 'create_passkey_challenge',
  title: 'Create a challenge for a passkey',
  description:
    'For the dashboard: a challenge that a passkey signs, to log in or in place of a password and a code. It tells nothing of accounts.',
  input: z.strictObject({ origin: dashboardOrigin }),
  output: z.strictObject(challenge),
  access: 'public',
  workspace: 'none',
  edition: 'community',
  effects: CREATE,
  whenFull: 'works',
  problems: ['invalid_input'],
  http: { method: 'post', path: '/api/v1/users/login/passkeys/challenge' },
  run: async ({ origin }, context) => passkeyChallenge(context, origin),
});
