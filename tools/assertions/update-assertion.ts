import { z } from 'zod';
import { assertionChecker, findAssertion, replaceAssertion } from '../../core/assertions/manage.ts';
import { invalidInput } from '../../core/base/errors.ts';
import { foldName } from '../../core/base/record.ts';
import { addressedFields } from '../../core/state/expecting.ts';
import { defineOperation } from '../define.ts';
import { assertionInput, assertionOf } from './assertion-input.ts';
import { assertionView } from './assertion-view.ts';
import { assertionWrites } from './assertion-writes.ts';

export const updateAssertion = defineOperation({
  name: 'update_assertion',
  title: 'Replace an assertion',
  description: 'Replaces what an assertion says; labels and annotations stay unless they are sent. It has to hold now.',
  input: z.strictObject({ ...addressedFields, ...assertionInput }),
  ...assertionWrites.update,
  problems: ['invalid_input', 'not_found', 'conflict', 'policy_assertion_failed'],
  async run({ id, ...input }, context) {
    const { name, spec, ...meta } = await assertionOf(context, input);
    const stored = await findAssertion(context.services, context.workspace, id);
    if (name !== undefined && foldName(name.replaceAll(' ', '-')) !== foldName(stored.name)) {
      const detail = `The path names ${stored.name} and the body ${name}: a record keeps its name.`;
      throw invalidInput([{ pointer: '/name', detail }], detail);
    }
    const record = await replaceAssertion(context, id, spec, meta);
    return assertionView(record, await assertionChecker(context.services, context.workspace));
  },
});
