import { defineOperation } from '../define.ts';
import { networkWrites } from './network-writes.ts';

export const deleteNetwork = defineOperation({
  name: 'delete_network',
  title: 'Delete a network',
  description: 'Deletes a network that has no peers and that no policy names.',
  ...networkWrites.delete,
});
