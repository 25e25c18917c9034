import { enrol } from '../plane/devices.ts';
import type { Harness } from './harness.ts';

export interface Joined {
  readonly id: string;
  readonly name: string;
  readonly deviceToken: string;
}

/** Joins a device over HTTP with a join token of its own that carries the labels. */
export async function joinDevice(
  harness: Harness,
  { token, workspace }: { readonly token: string; readonly workspace: string },
  name: string,
  labels: Readonly<Record<string, string>> = {},
): Promise<Joined> {
  const made = await harness.api('POST', '/api/v1/token/generate', {
    token,
    workspace,
    body: { name, expiry: '', usageLimit: 1, labels },
  });
  return enrol(harness, made.body.token, name);
}

/** A workspace with two web servers, a database and a laptop, and its administrator's session. */
export async function webAndDatabase(harness: Harness, slug = 'prod') {
  const admin = await harness.workspace(slug);
  const peers = {
    'web-1': await joinDevice(harness, admin, 'web-1', { role: 'web' }),
    'web-2': await joinDevice(harness, admin, 'web-2', { role: 'web' }),
    'db-1': await joinDevice(harness, admin, 'db-1', { role: 'db' }),
    laptop: await joinDevice(harness, admin, 'laptop'),
  };
  return { ...admin, peers };
}

/** An API token as an MCP client gets one: read, plan and apply. */
export async function apiToken(
  harness: Pick<Harness, 'api'>,
  { token, workspace }: { readonly token: string; readonly workspace: string },
  scopes?: readonly string[],
): Promise<string> {
  const body = { name: 'client', ...(scopes && { scopes }) };
  return (await harness.api('POST', '/api/v1/users/me/api-tokens', { token, workspace, body })).body.token;
}
