import { z } from 'zod';
import { comparison } from '../../core/authority/state-after.ts';
import { UPDATE } from '../../core/base/operation.ts';
import { requireSession } from '../../core/base/require-session.ts';
import { effectView } from '../../core/effect/effect-view.ts';
import { adoptPeer as adopt, adopted } from '../../core/peers/peers.ts';
import { addressedFields } from '../../core/state/expecting.ts';
import { findPeer } from '../../core/state/find-peer.ts';
import { currentPeer } from '../../core/views/peer-answer.ts';
import { peerSchema } from '../../core/views/peer-view.ts';
import { defineOperation } from '../define.ts';
import { effectSchema } from '../intents/plan-view.ts';

export const adoptPeer = defineOperation({
  name: 'adopt_peer',
  title: 'Adopt a peer',
  description:
    'Makes a peer that came with the join token of an agent an ordinary peer: it stays when the agent ends, and the reach of the agent bounds it no more. Only a signed-in person may. With dryRun it only says what that opens.',
  input: z.strictObject({
    ...addressedFields,
    dryRun: z.boolean().default(false).describe('say what it opens, change nothing'),
  }),
  output: z.strictObject({ peer: peerSchema, effect: effectSchema, dryRun: z.boolean() }),
  access: 'peers:approve',
  workspace: 'scoped',
  edition: 'community',
  effects: UPDATE,
  addresses: 'MeshPeer',
  problems: ['not_found', 'conflict', 'policy_assertion_failed'],
  http: { method: 'post', path: '/api/v1/peers/:id/adopt' },
  async run({ id, dryRun }, context) {
    requireSession(context.caller);
    const { services, workspace } = context;
    const { states, clock } = services;
    const state = await states.current(workspace);
    const before = findPeer(state, id);
    const after = adopted(before);
    const { kind, name } = before;
    const writes = after ? [{ type: 'updated' as const, kind, name, before, after }] : [];
    const { effect } = comparison({ states, state, writes, now: clock.now() });
    const { uid } = dryRun ? before : await adopt(context, id);
    return { peer: await currentPeer(context, uid), effect: effectView(effect), dryRun };
  },
});
