import { z } from 'zod';
import { requireAssertionsAfter } from '../../core/assertions/guard.ts';
import { UPDATE } from '../../core/base/operation.ts';
import type { Op } from '../../core/base/ports.ts';
import { lineOfText, TEXT_LIMITS } from '../../core/base/text.ts';
import { nameSchema } from '../../core/changes/manifest.ts';
import { labelsChanged, labelsSchema } from '../../core/model/labels.ts';
import { renameOps, renamePeer } from '../../core/peers/peers.ts';
import { addressedFields } from '../../core/state/expecting.ts';
import { findPeer } from '../../core/state/find-peer.ts';
import type { NetworkState } from '../../core/state/state.ts';
import { currentPeer } from '../../core/views/peer-answer.ts';
import { peerSchema } from '../../core/views/peer-view.ts';
import { defineOperation } from '../define.ts';
import { submitOne } from '../submit.ts';

export const updatePeer = defineOperation({
  name: 'update_peer',
  title: 'Update a peer',
  description: 'Renames a peer, replaces its labels, or moves it to another network. Labels and network decide access.',
  input: z.strictObject({
    ...addressedFields,
    name: nameSchema.optional(),
    labels: labelsSchema.optional().describe('Replaces all labels'),
    network: lineOfText(TEXT_LIMITS.name).min(1).optional().describe('The peer gets an address there'),
  }),
  output: peerSchema,
  access: 'network:write',
  workspace: 'scoped',
  edition: 'community',
  effects: UPDATE,
  addresses: 'MeshPeer',
  maps: ['labels'],
  shows: 'MeshPeer',
  problems: ['invalid_input', 'not_found', 'conflict'],
  http: { method: 'patch', path: '/api/v1/peers/:id' },
  async run({ id, name, labels, network }, context) {
    const peer = await currentPeer(context, id);
    if (labels === undefined && network === undefined) {
      if (name !== undefined) await renamePeer(context, peer.id, name);
      return currentPeer(context, peer.id);
    }
    const change = {
      action: 'update',
      resource: 'MeshPeer',
      name: peer.id,
      ...(labels && { labels }),
      ...(network !== undefined && { network }),
    } as const;
    const renamed = async (others: readonly Op[], state: NetworkState) => {
      if (name === undefined) return others;
      const ops = await renameOps(context, state, { peer: findPeer(state, peer.id), asked: name, others });
      await requireAssertionsAfter(context, state, ops);
      return ops;
    };
    const reason = `updated peer ${peer.name}${inWords(peer, { name, labels, network })}`;
    const submitted = await submitOne(context, change, reason, renamed);
    if (submitted.status === 'pending_approval') return submitted;
    return currentPeer(context, peer.id);
  },
});

/** Returns the change in words, for its approver and for the audit log. */
function inWords(
  peer: Pick<Peer, 'name' | 'labels' | 'network'>,
  { name = peer.name, labels = peer.labels, network = peer.network }: Change,
): string {
  const text = [
    labelsChanged(peer.labels, labels),
    network === peer.network ? '' : `it moves to the network ${network}`,
    name === peer.name ? '' : `it is called ${name} from then on`,
  ].filter((each) => each !== '');
  return text.length === 0 ? '' : `: ${text.join(', ')}`;
}

type Peer = z.output<typeof peerSchema>;

interface Change {
  readonly name?: string | undefined;
  readonly labels?: Peer['labels'] | undefined;
  readonly network?: string | undefined;
}
