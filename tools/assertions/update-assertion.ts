import { z } from 'zod';
import { assertionChecker, findAssertion, replaceAssertion } from '../../core/assertions/manage.ts';
import { invalidInput } from '../../core/base/errors.ts';
import { UPDATE } from '../../core/base/operation.ts';
import { foldName } from '../../core/base/record.ts';
import { addressedFields } from '../../core/state/expecting.ts';
import { defineOperation } from '../define.ts';
import { assertionInput, assertionOf } from './assertion-input.ts';
import { assertionSchema, assertionView } from './assertion-view.ts';

export const updateAssertion = defineOperation({
  name: 'update_assertion',
  title: 'Replace an assertion',
  description: 'Replaces what an assertion says; labels and annotations stay unless they are sent. It has to hold now.',
  input: z.strictObject({ ...addressedFields, ...assertionInput }),
  output: assertionSchema,
  access: 'network:write',
  workspace: 'scoped',
  edition: 'community',
  effects: UPDATE,
  addresses: 'PolicyAssertion',
  shows: 'PolicyAssertion',
  problems: ['invalid_input', 'not_found', 'conflict', 'policy_assertion_failed'],
  http: { method: 'put', path: '/api/v1/assertions/:id', yamlField: 'manifest' },
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
