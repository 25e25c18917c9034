import { z } from 'zod';
import { CREATE } from '../../core/base/operation.ts';
import { resourceChange } from '../../core/changes/resource-input.ts';
import { findRecord } from '../../core/model/find.ts';
import { networkSpecSchema } from '../../core/model/network-spec.ts';
import { networkSchema, networkView } from '../../core/views/network-view.ts';
import { defineOperation } from '../define.ts';
import { resourceFields } from '../resources/resource-fields.ts';
import { answerOf, submitOne } from '../submitted.ts';

export const createNetwork = defineOperation({
  name: 'create_network',
  title: 'Create a network',
  description: 'Creates a network: a block of addresses, and what holds where no policy speaks.',
  input: z.strictObject({ ...resourceFields, spec: networkSpecSchema.optional() }),
  output: networkSchema,
  access: 'network:write',
  workspace: 'scoped',
  edition: 'community',
  effects: CREATE,
  shows: 'MeshNetwork',
  problems: ['invalid_input', 'conflict', 'payload_too_large'],
  http: { method: 'post', path: '/api/v1/networks', status: 201, yamlField: 'manifest' },
  async run(input, context) {
    const change = await resourceChange(context, 'MeshNetwork', input);
    const submitted = await submitOne(context, change, `created network ${change.name}`);
    return answerOf(submitted, ({ outcomes, after }) =>
      networkView(findRecord(after.networks, 'network', outcomes[0]?.name ?? ''), after),
    );
  },
});
