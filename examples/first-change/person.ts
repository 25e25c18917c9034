import { generateKeyPairSync } from 'node:crypto';

/** Calls the REST API the way a signed-in person does, or a device that joins. */
export interface Rest {
  readonly server: string;
  readonly token: string;
  readonly workspace?: string;
}

/** @throws Error with the problem that the control plane answered. */
export async function call<Answer>(
  { server, token, workspace }: Rest,
  method: string,
  path: string,
  body?: unknown,
): Promise<Answer> {
  const response = await fetch(new URL(path, server), {
    method,
    headers: {
      authorization: `Bearer ${token}`,
      ...(workspace !== undefined && { 'x-workspace-id': workspace }),
      ...(body !== undefined && { 'content-type': 'application/json' }),
    },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
  const text = await response.text();
  if (!response.ok) throw new Error(`${method} ${path} answered ${response.status}: ${text}`);
  return JSON.parse(text) as Answer;
}

interface Joined {
  readonly name: string;
  readonly address: string;
  readonly agentToken?: string;
  readonly expiresAt?: string;
}

/** Joins a device with a join token, or a sub-agent with a delegate token. Its private key goes nowhere. */
export function join(server: string, token: string, name: string, platform = 'linux'): Promise<Joined> {
  const { publicKey } = generateKeyPairSync('x25519');
  const raw = publicKey.export({ type: 'spki', format: 'der' }).subarray(-32);
  const body = { name, platform, publicKey: raw.toString('base64') };
  return call<Joined>({ server, token }, 'POST', '/api/v1/devices/register', body);
}

/** A workspace of its own with two web servers, a database and a laptop. */
export async function network(server: string, token: string): Promise<Rest & { readonly workspace: string }> {
  const slug = `first-change-${Date.now().toString(36)}`;
  const fields = { slug, namespace: slug, displayName: 'First change', maxNodeCount: 20 };
  const { data } = await call<{ data: { id: string } }>({ server, token }, 'POST', '/api/v1/workspaces/add', fields);
  const person = { server, token, workspace: data.id };
  const roles = { 'web-1': 'web', 'web-2': 'web', 'db-1': 'db', laptop: undefined };
  for (const [name, role] of Object.entries(roles)) {
    // Labels decide access, so they come from the maker of the token, never from the device.
    const made = await call<{ token: string }>(person, 'POST', '/api/v1/token/generate', {
      name,
      expiry: '1h',
      usageLimit: 1,
      ...(role !== undefined && { labels: { role } }),
    });
    await join(server, made.token, name);
  }
  return person;
}
