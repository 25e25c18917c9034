import { z } from 'zod';
import { UPDATE } from '../../core/base/operation.ts';
import { resourceChange } from '../../core/changes/resource-input.ts';
import { findRecord } from '../../core/model/find.ts';
import { networkSpecSchema } from '../../core/model/network-spec.ts';
import { addressedFields } from '../../core/state/expecting.ts';
import { networkSchema, networkView } from '../../core/views/network-view.ts';
import { defineOperation } from '../define.ts';
import { resourceFields } from '../resources/resource-fields.ts';
import { answerOf, submitOne } from '../submitted.ts';

export const updateNetwork = defineOperation({
  name: 'update_network',
  title: 'Replace a network',
  description: 'Replaces the spec of a network. A block may not leave out an address in use.',
  input: z.strictObject({ ...addressedFields, ...resourceFields, spec: networkSpecSchema.optional() }),
  output: networkSchema,
  access: 'network:write',
  workspace: 'scoped',
  edition: 'community',
  effects: UPDATE,
  addresses: 'MeshNetwork',
  shows: 'MeshNetwork',
  problems: ['invalid_input', 'not_found', 'conflict', 'payload_too_large'],
  http: { method: 'put', path: '/api/v1/networks/:id', yamlField: 'manifest' },
  async run({ id, ...input }, context) {
    const change = await resourceChange(context, 'MeshNetwork', input, id);
    const submitted = await submitOne(context, change, `updated network ${change.name}`);
    return answerOf(submitted, ({ outcomes, after }) =>
      networkView(findRecord(after.networks, 'network', outcomes[0]?.name ?? ''), after),
    );
  },
});
