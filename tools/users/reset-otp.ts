import { z } from 'zod';
import { DELETE } from '../../core/base/operation.ts';
import { lineOfText, TEXT_LIMITS } from '../../core/base/text.ts';
import { resetOtp as reset } from '../../core/identity/second-factor.ts';
import { defineOperation } from '../define.ts';

export const resetOtp = defineOperation({
  name: 'reset_otp',
  title: 'Reset a second factor',
  description:
    'Takes the second factor of somebody else away, passkeys included, who lost it. Their sessions end, and the password alone signs in until they enrol another.',
  input: z.strictObject({ username: lineOfText(TEXT_LIMITS.name).min(1) }),
  output: z.strictObject({ reset: z.literal(true) }),
  access: 'users:write',
  workspace: 'none',
  edition: 'community',
  effects: { ...DELETE, idempotentHint: false },
  problems: ['invalid_input', 'unauthenticated', 'forbidden', 'not_found', 'conflict'],
  http: { method: 'delete', path: '/api/v1/users/:username/otp' },
  async run({ username }, context) {
    await reset(username, context);
    return { reset: true as const };
  },
});
