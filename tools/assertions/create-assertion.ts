import { z } from 'zod';
import { assertionChecker, createAssertion as create } from '../../core/assertions/manage.ts';
import { CREATE } from '../../core/base/operation.ts';
import { defineOperation } from '../define.ts';
import { assertionInput, assertionOf } from './assertion-input.ts';
import { assertionSchema, assertionView } from './assertion-view.ts';

export const createAssertion = defineOperation({
  name: 'create_assertion',
  title: 'Create an assertion',
  description:
    'Says what must stay true: who reaches whom, or never does. From then on every write and plan that would break it is refused. It has to hold now.',
  input: z.strictObject(assertionInput),
  output: assertionSchema,
  access: 'network:write',
  workspace: 'scoped',
  edition: 'community',
  effects: CREATE,
  shows: 'PolicyAssertion',
  problems: ['invalid_input', 'conflict', 'policy_assertion_failed'],
  http: { method: 'post', path: '/api/v1/assertions', status: 201, yamlField: 'manifest' },
  async run(input, context) {
    const { name, spec, ...meta } = await assertionOf(context, input);
    const record = await create(context, name, spec, meta);
    return assertionView(record, await assertionChecker(context.services, context.workspace));
  },
});
