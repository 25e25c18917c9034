import { z } from 'zod';
import { networkView, viewOfNetwork } from '../core/network/network-view.ts';
import { READ } from '../core/operation.ts';
import { defineOperation } from './define.ts';
import { pageOf, pageQuery } from './page.ts';

export const listNetworks = defineOperation({
  name: 'list_networks',
  title: 'List networks',
  description: 'Networks of the workspace by name, with the addresses that are in use.',
  input: z.strictObject(pageQuery),
  output: z.strictObject({ items: z.array(networkView), next_cursor: z.string().optional() }),
  access: 'network:read',
  workspace: 'scoped',
  edition: 'community',
  effects: READ,
  problems: ['invalid_input'],
  http: { method: 'get', path: '/api/v1/networks' },
  async run(query, { services, workspace }) {
    const state = await services.states.current(workspace);
    return pageOf([...state.networks.values()], query, (network) => viewOfNetwork(network, state));
  },
});
