import { z } from 'zod';
import { isThisMachine } from '../../core/base/loopback.ts';
import { CREATE } from '../../core/base/operation.ts';
import { lineOfText, TEXT_LIMITS } from '../../core/base/text.ts';
import { generateJoinToken as generate } from '../../core/identity/join-tokens.ts';
import { publicAddress, withAddress } from '../../core/model/token.ts';

import { deviceFields, MAX_JOIN_USES, workloadFields } from '../../core/model/workload-rule.ts';
import { defineOperation } from '../define.ts';
import { joinTokenSchema, joinTokenView } from './join-token-view.ts';

const LOCAL_LINK =
  'The join link names an address that this machine alone reaches: set app.publicUrls in config.yaml and start meshd again, or replace server in the link.';

export const generateJoinToken = defineOperation({
  name: 'generate_join_token',
  title: 'Make a join token',
  description:
    'Makes a token that devices join the workspace with. It is shown this once. Its labels and network decide access.',
  input: z.strictObject({
    name: lineOfText(TEXT_LIMITS.title).trim().min(1),
    expiry: lineOfText(TEXT_LIMITS.duration).default('').describe('a duration such as 24h; "" for 7 days'),
    usageLimit: z
      .number()
      .int()
      .min(1)
      .max(MAX_JOIN_USES)
      .optional()
      .describe('devices it may add; when left out 5, no limit with identity, or as many as the agent may'),
    ...deviceFields,
    ephemeral: z.boolean().optional().describe('delete its devices once they have been offline for 10 minutes'),
    identity: workloadFields.identity
      .optional()
      .describe('workloads that may use it, by OIDC tokens of their own; it is a rule then, and no secret'),
    admits: workloadFields.admits.optional(),
    preset: workloadFields.preset.optional(),
    egress: workloadFields.egress.optional(),
    includeAddress: z
      .boolean()
      .optional()
      .describe('false: a token without the address of this control plane, as nodes up to 0.2.0 need it'),
  }),
  output: joinTokenSchema.extend({
    token: z.string(),
    joinLink: z.string().describe('for a QR code'),
    notice: z.string().optional().describe('where the link works on the machine of the control plane alone'),
  }),
  access: 'tokens:write',
  workspace: 'scoped',
  edition: 'community',
  effects: CREATE,
  confidential: { answer: true },
  problems: ['invalid_input', 'unauthenticated', 'forbidden', 'not_found', 'conflict'],
  http: { method: 'post', path: '/api/v1/token/generate' },
  async run({ includeAddress = true, ...input }, context) {
    const { token, record } = await generate(input, context);
    const { settings } = context.services;
    const server = publicAddress(settings) ?? settings.apiUrl;
    const isReachable = !isThisMachine(new URL(server).hostname);
    return {
      ...joinTokenView(record, context.services),
      token: includeAddress ? withAddress(token, settings) : token,
      joinLink: `mesh://join?${new URLSearchParams({ server, token })}`,
      ...(!isReachable && { notice: LOCAL_LINK }),
    };
  },
});
