import { z } from 'zod';
import { CREATE } from '../../core/base/operation.ts';
import { lineOfText, TEXT_LIMITS } from '../../core/base/text.ts';
import { nameSchema } from '../../core/changes/manifest.ts';
import { busJwtOf } from '../../core/enrolment/own-device.ts';
import { registerDevice as register } from '../../core/enrolment/register.ts';
import { labelsSchema } from '../../core/model/labels.ts';
import { publicKeySchema } from '../../core/model/public-key-schema.ts';
import { PLATFORMS } from '../../core/model/resources.ts';
import { versionSchema } from '../../core/model/version.ts';
import { defineOperation } from '../define.ts';

export const registerDevice = defineOperation({
  name: 'register_device',
  title: 'Register a device',
  description: 'Joins a device with a join token, or a sub-agent with a delegate token. The private key stays with it.',
  input: z.strictObject({
    token: lineOfText(TEXT_LIMITS.token).describe('Join or delegate token; also as bearer'),
    name: nameSchema.optional().describe('Required but for a sub-agent, whose peer then bears its name'),
    platform: z.enum(PLATFORMS).default('linux'),
    publicKey: publicKeySchema.describe('X25519, base64'),
    hostname: lineOfText(TEXT_LIMITS.hostname).optional(),
    version: versionSchema.optional(),
    labels: labelsSchema.optional().describe('Asked for beside those of the token, which has to grant them'),
    ephemeral: z.boolean().optional().describe('Delete it once it has been offline for 10 minutes'),
    identity: lineOfText(TEXT_LIMITS.identityToken)
      .optional()
      .describe('OIDC token of a workload, for a token that asks for one'),
    proof: lineOfText(TEXT_LIMITS.id)
      .optional()
      .describe('HMAC-SHA256(X25519(private key, controlKey), token + publicKey), base64'),
  }),
  output: z.strictObject({
    id: z.string(),
    name: z.string(),
    phase: z.enum(['pending', 'ready']),
    address: z.string().nullable().describe('Null while pending'),
    cidr: z.string().optional().describe('Block of its network, which the device routes'),
    workspaceId: z.string(),
    deviceToken: z
      .string()
      .optional()
      .describe(
        'Bearer for devices/self; the last one issued counts. Absent without proof where the device has its token',
      ),
    agentToken: z.string().optional().describe('Of a sub-agent'),
    expiresAt: z.string().optional().describe('The peer is deleted then'),
    controlKey: z.string(),
    signalingUrl: z.string(),
    stunUrl: z.string(),
    busJwt: z.string().optional().describe('Signs in to the bus, where that knows nodes by a key'),
    existing: z.literal(true).optional().describe('The same token and key had registered it before'),
  }),
  access: 'enrolment',
  workspace: 'scoped',
  edition: 'community',
  effects: CREATE,
  problems: [
    'invalid_input',
    'unauthenticated',
    'forbidden',
    'conflict',
    'policy_assertion_failed',
    'rate_limited',
    'unavailable',
  ],
  http: {
    method: 'post',
    path: '/api/v1/devices/register',
    status: 201,
    otherStatus: {
      status: 200,
      description: 'Registered before with the same token and key',
      when: (answer) => typeof answer === 'object' && answer !== null && 'existing' in answer,
    },
  },
  async run(input, context) {
    const { settings, keys } = context.services;
    const { peer, deviceToken, agentToken, existing } = await register(context, input);
    const { phase, address } = peer.status;
    const { networks } = await context.services.states.current(context.workspace);
    const cidr = networks.get(peer.spec.network)?.spec.cidr;
    return {
      id: peer.uid,
      name: peer.name,
      phase: phase === 'pending' ? ('pending' as const) : ('ready' as const),
      address,
      ...(cidr !== undefined && { cidr }),
      workspaceId: context.workspace,
      ...(deviceToken !== undefined && { deviceToken }),
      ...(agentToken !== undefined && { agentToken }),
      ...(peer.spec.expiresAt !== undefined && { expiresAt: peer.spec.expiresAt }),
      controlKey: Buffer.from(keys.controlKey).toString('base64'),
      signalingUrl: settings.signalingUrl,
      stunUrl: settings.stunUrls[0],
      ...busJwtOf(context.services, context.workspace, peer),
      ...(existing && { existing: true as const }),
    };
  },
});
