import { z } from 'zod';
import { READ } from '../../core/base/operation.ts';
import { overviewOf, WARNINGS } from '../../core/compliance/overview.ts';
import { defineOperation } from '../define.ts';

export const getOverview = defineOperation({
  name: 'get_overview',
  title: 'Show the workspace at a glance',
  description:
    'Counts of peers, paths, policies and agents, and what somebody should see to. What is wrong with the installation is told to who has compliance:assess.',
  input: z.strictObject({}),
  output: z.strictObject({
    revision: z.int(),
    peers: z.strictObject({
      total: z.int(),
      ready: z.int().describe('Let in, and not revoked'),
      pending: z.int().describe('Waiting to be let in'),
      online: z.int().describe('Of those that are ready'),
    }),
    paths: z.strictObject({ direct: z.int(), relayed: z.int() }).describe('Open paths as each end reported them last'),
    policies: z.int().describe('Without those of presets'),
    agents: z.strictObject({ total: z.int().describe('Those that ended too'), live: z.int() }),
    warnings: z.array(
      z.strictObject({
        code: z.enum(WARNINGS),
        message: z.string(),
        remedy: z.string().describe('Who has to do what'),
      }),
    ),
  }),
  access: 'network:read',
  workspace: 'scoped',
  edition: 'community',
  effects: READ,
  problems: ['invalid_input'],
  http: { method: 'get', path: '/api/v1/overview' },
  run: (_input, context) => overviewOf(context),
});
