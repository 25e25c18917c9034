import { z } from 'zod';
import { assertionChecker, assertionsOf } from '../../core/assertions/manage.ts';
import { READ } from '../../core/base/operation.ts';
import { defineOperation } from '../define.ts';
import { pageOf, pageQuery } from '../page.ts';
import { assertionSchema, assertionView } from './assertion-view.ts';

export const listAssertions = defineOperation({
  name: 'list_assertions',
  title: 'List assertions',
  description:
    'Standing assertions of the workspace by name, and whether each holds now. No change may break one that holds.',
  input: z.strictObject(pageQuery),
  output: z.strictObject({ items: z.array(assertionSchema), next_cursor: z.string().optional() }),
  columns: {
    Name: 'name',
    From: 'spec.src',
    To: 'spec.dst',
    Expects: 'spec.expect',
    Protocol: 'spec.protocol',
    Port: 'spec.port',
    Holds: 'status.holds',
  },
  access: 'network:read',
  workspace: 'scoped',
  edition: 'community',
  effects: READ,
  shows: 'PolicyAssertion',
  problems: ['invalid_input'],
  http: { method: 'get', path: '/api/v1/assertions' },
  async run(query, { services, workspace }) {
    const records = await assertionsOf(services, workspace);
    const check = await assertionChecker(services, workspace);
    return pageOf([...records.values()], query, (record) => assertionView(record, check));
  },
});
