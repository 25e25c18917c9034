import { z } from 'zod';
import { READ } from '../../core/base/operation.ts';
import { networkSchema, networkView } from '../../core/views/network-view.ts';
import { defineHeavyOperation } from '../define.ts';
import { pageOf, pageQuery } from '../page.ts';
import { isAboutPast, pastCost, pastFields, stateFor } from '../past.ts';

export const listNetworks = defineHeavyOperation({
  name: 'list_networks',
  title: 'List networks',
  description: 'Networks of the workspace by name, with the addresses that are in use.',
  input: z.strictObject({ ...pageQuery, ...pastFields }),
  output: z.strictObject({ items: z.array(networkSchema), next_cursor: z.string().optional() }),
  columns: { Name: 'name', Addresses: 'spec.cidr', Default: 'spec.defaultAction', Peers: 'status.peers' },
  access: 'network:read',
  workspace: 'scoped',
  edition: 'community',
  proWhen: isAboutPast,
  effects: READ,
  shows: 'MeshNetwork',
  cost: pastCost,
  problems: ['invalid_input', 'not_found', 'expired'],
  http: { method: 'get', path: '/api/v1/networks' },
  async run(query, context) {
    const { state } = await stateFor(context, query);
    return pageOf([...state.networks.values()], query, (network) => networkView(network, state));
  },
});
