import { randomUUID } from 'node:crypto';
import type { Scope } from '../../../core/base/scope.ts';
import type { Services } from '../../../core/workflow/services.ts';

/** Longer than a page is looked at. */
export const LIFE_MS = 3_600_000;

/** Has an OAuth client ask to be let in. @returns the id of its request */
export async function askToBeLetIn(
  { services }: { readonly services: Pick<Services, 'oauthRequests' | 'clock'> },
  scopes: readonly Scope[] = ['network:read', 'intents:plan', 'intents:apply'],
  clientId = 'mesh-client.planner',
): Promise<string> {
  const id = randomUUID();
  const request = {
    client: { id: clientId, name: 'Planner', host: 'planner.example' },
    redirectUri: 'https://planner.example/callback',
    resource: 'http://127.0.0.1:18090/mcp',
    scopes,
    returnTo: `http://127.0.0.1:18090/oauth/authorize/${id}`,
    payload: {},
  };
  await services.oauthRequests.save(id, request, services.clock.now() + LIFE_MS, '127.0.0.1');
  return id;
}
