import { z } from 'zod';
import { READ } from '../../core/base/operation.ts';
import { defineOperation } from '../define.ts';

export const getDiscovery = defineOperation({
  name: 'get_discovery',
  title: 'Discover the control plane',
  description: 'Where the services of this control plane are, for nodes and clients. Carries no credential.',
  input: z.strictObject({}),
  output: z.strictObject({
    name: z.literal('mesh'),
    version: z.string(),
    edition: z.enum(['community', 'pro']),
    api: z.literal('v1'),
    signalingUrl: z.string(),
    stunUrl: z.string(),
    controlKey: z.string().describe('X25519, base64'),
    controlKeyId: z.string(),
  }),
  access: 'public',
  workspace: 'none',
  edition: 'community',
  effects: READ,
  problems: [],
  http: { method: 'get', path: '/api/v1/discovery' },
  async run(_input, { services: { settings, edition, keys } }) {
    return {
      name: 'mesh' as const,
      version: settings.version,
      edition,
      api: 'v1' as const,
      signalingUrl: settings.signalingUrl,
      stunUrl: settings.stunUrls[0],
      controlKey: Buffer.from(keys.controlKey).toString('base64'),
      controlKeyId: keys.controlKeyId,
    };
  },
});
