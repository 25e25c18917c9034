import { findRecord } from '../../core/model/find.ts';
import { networkSchema, networkView } from '../../core/views/network-view.ts';
import { changeWrites } from '../resources/change-writes.ts';

export const networkWrites = changeWrites({
  kind: 'MeshNetwork',
  noun: 'network',
  path: '/api/v1/networks',
  output: networkSchema,
  view: (name, after) => networkView(findRecord(after.networks, 'network', name), after),
});
