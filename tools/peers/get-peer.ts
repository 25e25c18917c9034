import { z } from 'zod';
import { READ } from '../../core/base/operation.ts';
import { findLivePeerOrHost, peerSchema, peerView } from '../../core/views/peer-view.ts';
import { defineOperation } from '../define.ts';
import { idField } from '../resources/resource-fields.ts';

export const getPeer = defineOperation({
  name: 'get_peer',
  title: 'Get a peer',
  description: 'One peer, by id or stored name: labels, address, phase and presence.',
  input: z.strictObject({ id: idField }),
  output: peerSchema,
  access: 'network:read',
  workspace: 'scoped',
  edition: 'community',
  effects: READ,
  addresses: 'MeshPeer',
  shows: 'MeshPeer',
  problems: ['not_found'],
  http: { method: 'get', path: '/api/v1/peers/:id' },
  async run({ id }, { services, workspace }) {
    const state = await services.states.current(workspace);
    return peerView(findLivePeerOrHost(state, id, services.clock.now()), state, services.liveness);
  },
});
