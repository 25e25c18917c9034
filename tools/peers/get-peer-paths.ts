import { z } from 'zod';
import { READ } from '../../core/base/operation.ts';
import { lookUpById } from '../../core/model/find.ts';
import { pathReportSchema } from '../../core/model/reported-paths.ts';
import { findLivePeerOrHost } from '../../core/views/peer-view.ts';
import { defineOperation } from '../define.ts';
import { idField } from '../resources/resource-fields.ts';

export const getPeerPaths = defineOperation({
  name: 'get_peer_paths',
  title: 'Show how a peer reaches others',
  description: 'The way to each other peer as the device itself reported it last: direct or relayed, and why.',
  input: z.strictObject({ id: idField }),
  output: z.strictObject({
    items: z.array(z.strictObject({ ...pathReportSchema.shape, name: z.string().describe('Name of the other peer') })),
  }),
  columns: { Peer: 'name', Path: 'path', Transport: 'transport', Reason: 'reason', Since: 'since' },
  access: 'network:read',
  workspace: 'scoped',
  edition: 'community',
  effects: READ,
  problems: ['not_found'],
  http: { method: 'get', path: '/api/v1/peers/:id/paths' },
  async run({ id }, { services, workspace }) {
    const state = await services.states.current(workspace);
    const { uid } = findLivePeerOrHost(state, id, services.clock.now());
    const items = services.paths.of(workspace, uid).flatMap((report) => {
      const other = lookUpById(state.peers, report.peer);
      return other ? [{ ...report, name: other.name }] : [];
    });
    return { items: items.sort((a, b) => (a.name < b.name ? -1 : 1)) };
  },
});
