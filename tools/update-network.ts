import { z } from 'zod';
import { addressedFields } from '../core/expected-revision.ts';
import { findRecord } from '../core/network/find.ts';
import { networkSpecSchema } from '../core/network/network-spec.ts';
import { networkView, viewOfNetwork } from '../core/network/network-view.ts';
import { resourceChange } from '../core/network/resource-input.ts';
import { UPDATE } from '../core/operation.ts';
import { defineOperation } from './define.ts';
import { resourceFields } from './resource-fields.ts';
import { answerOf, submitOne } from './submitted.ts';

export const updateNetwork = defineOperation({
  name: 'update_network',
  title: 'Replace a network',
  description: 'Replaces the spec of a network. A block may not leave out an address in use.',
  input: z.strictObject({ ...addressedFields, ...resourceFields, spec: networkSpecSchema.optional() }),
  output: networkView,
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
      viewOfNetwork(findRecord(after.networks, 'network', outcomes[0]?.name ?? ''), after),
    );
  },
});
