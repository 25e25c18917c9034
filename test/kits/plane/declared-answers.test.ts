import { expect, test } from 'vitest';
import { MeshError } from '../../../core/base/errors.ts';
import { openApiDocument } from '../../../rest/openapi.ts';
import { operations } from '../../../tools/index.ts';
import { expectDeclaredProblem, expectDeclaredStatuses } from './declared-answers.ts';

const refusalsOf = (name: string) => {
  const paths = Object.values(openApiDocument(operations, '0.0.0').paths ?? {});
  const entries = paths.flatMap((item) =>
    Object.values(item as Record<string, { operationId?: string; responses?: object }>),
  );
  return Object.keys(entries.find(({ operationId }) => operationId === name)?.responses ?? {})
    .map(Number)
    .filter((status) => status >= 400);
};

test.each([
  ['get_discovery', [400, 403, 429, 500, 503]],
  ['list_policies', [400, 401, 402, 403, 404, 410, 429, 500, 503]],
  ['create_policy', [400, 401, 403, 404, 409, 413, 415, 422, 429, 500, 503, 507]],
  ['plan_network_change', [400, 401, 402, 403, 404, 409, 410, 413, 415, 422, 429, 500, 503, 507]],
])('the OpenAPI document lists every status that %s can refuse with', (name, statuses) => {
  expect(refusalsOf(name)).toEqual(statuses);
});

test('an answer that the document does not list fails the test that saw it', () => {
  const metrics = 'mesh_http_request_duration_seconds_count{operation="get_discovery",status="404"} 1\n';
  expect(() => expectDeclaredStatuses(metrics, operations)).toThrow('get_discovery answered 404');
  const [discovery] = operations.filter(({ name }) => name === 'get_discovery');
  if (!discovery) throw new Error('There is no get_discovery.');
  expect(() => expectDeclaredProblem(discovery, new MeshError('conflict', 'x'))).toThrow('refused with conflict');
});
