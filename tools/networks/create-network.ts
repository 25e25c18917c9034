import { z } from 'zod';
import { networkSpecSchema } from '../../core/model/network-spec.ts';
import { defineOperation } from '../define.ts';
import { resourceFields } from '../resources/resource-fields.ts';
import { networkWrites } from './network-writes.ts';

export const createNetwork = defineOperation({
  name: 'create_network',
  title: 'Create a network',
  description: 'Creates a network: a block of addresses, and what holds where no policy speaks.',
  input: z.strictObject({ ...resourceFields, spec: networkSpecSchema.optional() }),
  ...networkWrites.create,
});
