import { z } from 'zod';
import { livePeers, peerView, viewOfPeer } from '../core/network/peer-view.ts';
import { PEER_PHASES } from '../core/network/resources.ts';
import { READ } from '../core/operation.ts';
import { lineOfText, TEXT_LIMITS } from '../core/text.ts';
import { defineHeavyOperation } from './define.ts';
import { pageOf, pageQuery } from './page.ts';
import { asksPast, pastCost, pastFields, stateFor } from './past.ts';

const HEARD_OF_NOBODY = { lastSeen: () => undefined };

export const listPeers = defineHeavyOperation({
  name: 'list_peers',
  title: 'List peers',
  description: 'Peers of the workspace by name, those of sub-agents too: labels, address, phase and presence.',
  input: z.strictObject({
    ...pageQuery,
    phase: z.enum(PEER_PHASES).optional(),
    network: lineOfText(TEXT_LIMITS.name).optional().describe('Name of a network'),
    ...pastFields,
  }),
  output: z.strictObject({ items: z.array(peerView), next_cursor: z.string().optional() }),
  access: 'network:read',
  workspace: 'scoped',
  edition: 'community',
  proWhen: asksPast,
  effects: READ,
  shows: 'MeshPeer',
  cost: pastCost,
  problems: ['invalid_input', 'not_found', 'expired'],
  http: { method: 'get', path: '/api/v1/peers' },
  async run({ phase, network, ...query }, context) {
    const { state, at, isPast } = await stateFor(context, query);
    // What was heard of a peer since then says nothing of how it was.
    const liveness = isPast ? HEARD_OF_NOBODY : context.services.liveness;
    const wanted = livePeers(state, at).filter(
      ({ spec, status }) =>
        (phase === undefined || status.phase === phase) && (network === undefined || spec.network === network),
    );
    return pageOf(wanted, query, (peer) => viewOfPeer(peer, state, liveness));
  },
});
