import { expect } from 'vitest';
import { MeshError, problems } from '../../../core/base/errors.ts';
import { type AnyOperation, mayWait } from '../../../core/base/operation.ts';
import { problemsOf } from '../../../rest/problems-of.ts';

/** Every test that calls an operation checks by these that the OpenAPI document lists what it answered. */

const SAMPLE = /^mesh_http_request_duration_seconds_count\{operation="(\w+)",status="(\d+)"\}/gm;

/** Fails for each status that was answered over REST, as the metrics have it, and is not declared. */
export function expectDeclaredStatuses<Services>(metrics: string, operations: readonly AnyOperation<Services>[]): void {
  const byName = new Map(operations.map((operation) => [operation.name, operation]));
  const undeclared = [...metrics.matchAll(SAMPLE)].filter(([, name = '', status]) => {
    const operation = byName.get(name);
    return operation !== undefined && !statusesOf(operation).has(Number(status));
  });
  const found = undeclared.map(([, name, status]) => `${name} answered ${status}, which it does not declare`);
  expect(found, found.join('\n')).toEqual([]);
}

/** Fails when an operation refused with a code that it does not declare. */
export function expectDeclaredProblem<Services>(operation: AnyOperation<Services>, error: unknown): void {
  if (!(error instanceof MeshError)) return;
  const declared = problemsOf(operation).has(error.code);
  expect(declared, `${operation.name} refused with ${error.code}, which it does not declare`).toBe(true);
}

function statusesOf<Services>(operation: AnyOperation<Services>): ReadonlySet<number> {
  const { status = 200, otherStatus } = operation.http;
  const refusals = [...problemsOf(operation)].map((code) => problems[code].status);
  const others = [...(otherStatus ? [otherStatus.status] : []), ...(mayWait(operation) ? [202] : [])];
  return new Set([status, ...others, ...refusals]);
}
