import { z } from 'zod';
import { livePeers, peerView, viewOfPeer } from '../core/network/peer-view.ts';
import { PEER_PHASES } from '../core/network/resources.ts';
import { READ } from '../core/operation.ts';
import { lineOfText, TEXT_LIMITS } from '../core/text.ts';
import { defineOperation } from './define.ts';
import { pageOf, pageQuery } from './page.ts';

export const listPeers = defineOperation({
  name: 'list_peers',
  title: 'List peers',
  description: 'Peers of the workspace by name, those of sub-agents too: labels, address, phase and presence.',
  input: z.strictObject({
    ...pageQuery,
    phase: z.enum(PEER_PHASES).optional(),
    network: lineOfText(TEXT_LIMITS.name).optional().describe('Name of a network'),
  }),
  output: z.strictObject({ items: z.array(peerView), next_cursor: z.string().optional() }),
  access: 'network:read',
  workspace: 'scoped',
  edition: 'community',
  effects: READ,
  problems: ['invalid_input'],
  http: { method: 'get', path: '/api/v1/peers' },
  async run({ phase, network, ...query }, { services, workspace }) {
    const state = await services.states.current(workspace);
    const wanted = livePeers(state, services.clock.now()).filter(
      ({ spec, status }) =>
        (phase === undefined || status.phase === phase) && (network === undefined || spec.network === network),
    );
    return pageOf(wanted, query, (peer) => viewOfPeer(peer, state, services.liveness));
  },
});
