import { z } from 'zod';
import { assertionChecker, findAssertion } from '../../core/assertions/manage.ts';
import { READ } from '../../core/base/operation.ts';
import { defineOperation } from '../define.ts';
import { idField } from '../resources/resource-fields.ts';
import { assertionSchema, assertionView } from './assertion-view.ts';

export const getAssertion = defineOperation({
  name: 'get_assertion',
  title: 'Get an assertion',
  description: 'One standing assertion, by id or name, and whether it holds now.',
  input: z.strictObject({ id: idField }),
  output: assertionSchema,
  access: 'network:read',
  workspace: 'scoped',
  edition: 'community',
  effects: READ,
  addresses: 'PolicyAssertion',
  shows: 'PolicyAssertion',
  problems: ['not_found'],
  http: { method: 'get', path: '/api/v1/assertions/:id' },
  async run({ id }, { services, workspace }) {
    const record = await findAssertion(services, workspace, id);
    return assertionView(record, await assertionChecker(services, workspace));
  },
});
