import { z } from 'zod';
import { assertionChecker, createAssertion as create } from '../../core/assertions/manage.ts';
import { defineOperation } from '../define.ts';
import { assertionInput, assertionOf } from './assertion-input.ts';
import { assertionView } from './assertion-view.ts';
import { assertionWrites } from './assertion-writes.ts';

export const createAssertion = defineOperation({
  name: 'create_assertion',
  title: 'Create an assertion',
  description:
    'Says what must stay true: who reaches whom, or never does. From then on every write and plan that would break it is refused. It has to hold now.',
  input: z.strictObject(assertionInput),
  ...assertionWrites.create,
  problems: ['invalid_input', 'conflict', 'policy_assertion_failed'],
  async run(input, context) {
    const { name, spec, ...meta } = await assertionOf(context, input);
    const record = await create(context, name, spec, meta);
    return assertionView(record, await assertionChecker(context.services, context.workspace));
  },
});
