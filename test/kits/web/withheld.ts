import type { Page } from 'playwright-core';
import type { Caller } from '../../../core/base/caller.ts';
import { ROLE_SCOPES, type Role } from '../../../core/base/scope.ts';
import { mayCall } from '../../../core/call/access.ts';
import { operations } from '../../../tools/index.ts';

const PLANS: ReadonlySet<string> = new Set(['plan_network_change', 'revert_network_change']);

const WITHHELD = {
  type: 'urn:mesh:problem:conflict',
  title: 'Withheld',
  status: 409,
  code: 'conflict',
  detail: 'Nothing is written here.',
  requestId: 'r_withheld',
};

/** What is sent in parts, and written nowhere (`rest/debug.ts`, `rest/evidence.ts`). */
const STREAMS: ReadonlySet<string> = new Set(['/api/v1/ai/debug', '/api/v1/ai/compliance/evidence']);

/** Of operations on one path that begins alike the one with the fewest parameters is meant. */
const BY_ROUTE = operations
  .map((operation) => ({ operation, path: patternOf(operation.http.path) }))
  .sort((a, b) => a.operation.http.path.split(':').length - b.operation.http.path.split(':').length);

/**
 * Keeps from the control plane whatever a page would write, and tells what of all that it asked a role would be refused:
 * what was answered so, and what was withheld and would have been.
 */
export async function withholdWrites(page: Page, role: Role): Promise<readonly string[]> {
  const refused: string[] = [];
  const caller = { kind: 'user', scopesIn: () => ROLE_SCOPES[role] } as unknown as Caller;
  page.on('response', (answer) => {
    if ([401, 403].includes(answer.status())) refused.push(`${answer.request().method()} ${answer.url()}`);
  });
  await page.route('**/api/v1/**', (route) => {
    const [method, { pathname }] = [route.request().method().toLowerCase(), new URL(route.request().url())];
    if (method === 'get' || STREAMS.has(pathname)) return route.continue();
    const found = BY_ROUTE.find(({ operation, path }) => operation.http.method === method && path.test(pathname));
    const { operation } = found ?? {};
    if (!operation) refused.push(`${method} ${pathname} is no operation`);
    else if (changesNothing(operation, route.request().postData())) return route.continue();
    else if (!mayCall(operation, caller, '')) refused.push(`${operation.name}, which was withheld`);
    return route.fulfill({ status: 409, contentType: 'application/problem+json', body: JSON.stringify(WITHHELD) });
  });
  return refused;
}

/** A plan, a read, or what only tells what it would do. */
function changesNothing({ name, effects }: (typeof operations)[number], body: string | null): boolean {
  return effects.readOnlyHint || PLANS.has(name) || /"dry_?run":true/i.test(body ?? '');
}

function patternOf(path: string): RegExp {
  return new RegExp(`^${path.replace(/:\w+/g, '[^/]+')}$`);
}
