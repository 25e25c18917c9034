import { z } from 'zod';
import { READ } from '../../core/base/operation.ts';
import { findRecord } from '../../core/model/find.ts';
import { networkSchema, networkView } from '../../core/views/network-view.ts';
import { defineOperation } from '../define.ts';
import { idField } from '../resources/resource-fields.ts';

export const getNetwork = defineOperation({
  name: 'get_network',
  title: 'Get a network',
  description: 'One network, by id or name.',
  input: z.strictObject({ id: idField }),
  output: networkSchema,
  access: 'network:read',
  workspace: 'scoped',
  edition: 'community',
  effects: READ,
  addresses: 'MeshNetwork',
  shows: 'MeshNetwork',
  problems: ['not_found'],
  http: { method: 'get', path: '/api/v1/networks/:id' },
  async run({ id }, { services, workspace }) {
    const state = await services.states.current(workspace);
    return networkView(findRecord(state.networks, 'network', id), state);
  },
});
