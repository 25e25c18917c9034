import { z } from 'zod';
import { networkSpecSchema } from '../../core/model/network-spec.ts';
import { addressedFields } from '../../core/state/expecting.ts';
import { defineOperation } from '../define.ts';
import { resourceFields } from '../resources/resource-fields.ts';
import { networkWrites } from './network-writes.ts';

export const updateNetwork = defineOperation({
  name: 'update_network',
  title: 'Replace a network',
  description:
    'Replaces the spec of a network. Another block gives its peers other addresses, once a person approves; both hold for ten minutes. A wider or narrower one may not leave out an address in use.',
  input: z.strictObject({ ...addressedFields, ...resourceFields, spec: networkSpecSchema.optional() }),
  ...networkWrites.update,
});
