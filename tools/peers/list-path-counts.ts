import { z } from 'zod';
import { READ } from '../../core/base/operation.ts';
import { countsOfPeer } from '../../core/peers/path-counts.ts';
import { livePeers } from '../../core/views/peer-view.ts';
import { defineOperation } from '../define.ts';
import { pageOf, pageQuery } from '../page.ts';

export const listPathCounts = defineOperation({
  name: 'list_path_counts',
  title: 'Count the paths of each peer',
  description:
    'How many others each peer reaches directly, by a relay, or not although it tries, as the device itself reported it last.',
  input: z.strictObject(pageQuery),
  output: z.strictObject({
    items: z.array(
      z.strictObject({ id: z.string(), name: z.string(), direct: z.int(), relayed: z.int(), failed: z.int() }),
    ),
    next_cursor: z.string().optional(),
  }),
  columns: { Peer: 'name', Direct: 'direct', Relayed: 'relayed', Failed: 'failed' },
  access: 'network:read',
  workspace: 'scoped',
  edition: 'community',
  effects: READ,
  problems: ['invalid_input'],
  http: { method: 'get', path: '/api/v1/paths/peers' },
  async run(query, { services, workspace }) {
    const { states, clock, paths } = services;
    const peers = livePeers(await states.current(workspace), clock.now());
    return pageOf(peers, query, ({ uid, name }) => ({ id: uid, name, ...countsOfPeer(paths.of(workspace, uid)) }));
  },
});
