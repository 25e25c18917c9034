import { z } from 'zod';
import { UPDATE } from '../../core/base/operation.ts';
import { renewRecoveryCodes as renew } from '../../core/identity/second-factor.ts';
import { defineOperation } from '../define.ts';
import { proof, recoveryCodes } from './otp-schema.ts';

export const renewRecoveryCodes = defineOperation({
  name: 'renew_recovery_codes',
  title: 'Renew the recovery codes',
  description: 'Makes new recovery codes for the second factor of the caller; those there were are good no more.',
  input: z.strictObject(proof),
  output: recoveryCodes,
  access: 'person',
  workspace: 'none',
  edition: 'community',
  effects: { ...UPDATE, idempotentHint: false },
  confidential: { answer: true, input: ['password', 'otp', 'passkey'] },
  problems: ['invalid_input', 'unauthenticated', 'forbidden', 'conflict', 'rate_limited'],
  http: { method: 'post', path: '/api/v1/users/me/otp/recovery-codes' },
  run: async (input, context) => ({ recoveryCodes: [...(await renew(input, context))] }),
});
