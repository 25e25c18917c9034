import { z } from 'zod';
import { UPDATE } from '../../core/base/operation.ts';
import { lineOfText, TEXT_LIMITS } from '../../core/base/text.ts';
import { busJwtOf, rotateKey } from '../../core/enrolment/own-device.ts';
import { publicKeySchema } from '../../core/model/public-key-schema.ts';
import { defineOperation } from '../define.ts';

export const rotateDeviceKey = defineOperation({
  name: 'rotate_device_key',
  title: 'Rotate the key of this device',
  description:
    'Replaces the public key of the device and its token. Its neighbours are told the new key. Where the workspace has requireApproval, a person approves a key that the present one does not prove; the device then sends the call again.',
  input: z.strictObject({
    publicKey: publicKeySchema.describe('X25519, base64'),
    proof: lineOfText(TEXT_LIMITS.id)
      .optional()
      .describe('HMAC-SHA256(X25519(new private key, controlKey), id + publicKey), base64'),
    oldKeyProof: lineOfText(TEXT_LIMITS.id)
      .optional()
      .describe(
        'HMAC-SHA256(X25519(present private key, controlKey), id + new publicKey), base64. Without it a person approves the key where the workspace has requireApproval',
      ),
    deviceToken: lineOfText(TEXT_LIMITS.token)
      .regex(/^mesh-dev-[A-Za-z0-9_-]{43}$/, { error: 'must be mesh-dev- and 32 random bytes in base64url' })
      .optional()
      .describe('The next token, made by the device so that it has it although the answer is lost'),
  }),
  output: z.strictObject({
    id: z.string(),
    publicKey: z.string(),
    deviceToken: z.string().describe('In place of the one that was sent, which has ended'),
    busJwt: z.string().optional().describe('Signs in to the bus with the new key, where that knows nodes by a key'),
  }),
  access: 'device',
  workspace: 'scoped',
  edition: 'community',
  effects: { ...UPDATE, idempotentHint: false },
  mayWait: true,
  confidential: { answer: true, input: ['proof', 'oldKeyProof', 'deviceToken'] },
  problems: ['invalid_input', 'not_found', 'conflict'],
  http: { method: 'post', path: '/api/v1/devices/self/key' },
  async run(claim, context) {
    const { peer, deviceToken } = await rotateKey(context, claim);
    const { services, workspace } = context;
    return { id: peer.uid, publicKey: peer.spec.publicKey, deviceToken, ...busJwtOf(services, workspace, peer) };
  },
});
