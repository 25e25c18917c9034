import { expect } from 'vitest';
import type { Cluster, ClusterPlane } from './cluster.ts';
import { ADMIN_PASSWORD, freshWorkspace } from './http/harness.ts';
import { joinTokenFor, type Place, register } from './http/joining.ts';
import { planIdOf } from './http/plan-id.ts';

/** What people, agents and devices ask of several control planes. */

type Asked = Pick<ClusterPlane, 'api'>;

const PASSWORD = 'a password of my own 42';

/** @throws Error with the whole answer, where it is a refusal */
export async function ask({ api }: Asked, as: Partial<Place>, method: string, route: string, body?: object) {
  const answer = await api(method, `/api/v1/${route}`, { ...as, ...(body && { body }) });
  if (answer.status >= 300) throw new Error(`${method} ${route} answered ${answer.status}: ${answer.text}`);
  return answer.body;
}

/** A workspace with a web server and a database. */
export async function webAndDb({ api }: Pick<Cluster, 'api'>, slug: string): Promise<Place> {
  const place = await freshWorkspace(api, slug);
  for (const role of ['web', 'db']) {
    const token = await joinTokenFor({ api }, place, { labels: { role } });
    expect((await register({ api }, token, role)).status).toBe(201);
  }
  return place;
}

/** A policy that lets web servers reach a port of the database. */
export const opens = (name: string, port: number) => ({
  name,
  spec: {
    action: 'ALLOW',
    peerSelector: { matchLabels: { role: 'db' } },
    ingress: [{ from: [{ peerSelector: { matchLabels: { role: 'web' } } }], ports: [{ port }] }],
  },
});

/** @returns the id of a plan that makes such a policy */
export async function plannedAt(plane: Asked, place: Place, name: string, port: number): Promise<string> {
  const plan = await ask(plane, place, 'POST', 'ai/intent/plan', {
    workspace_id: place.workspace,
    intent: `the web servers need port ${port} of the database`,
    dry_run: false,
    changes: [{ action: 'create', resource: 'MeshPolicy', ...opens(name, port) }],
    expectations: [{ src: 'role=web', dst: 'role=db', port, expect: 'allow' }],
  });
  return planIdOf(plan);
}

/** Planned at one, and put forward at another. @returns the workflow that waits */
export async function waitingAt(
  place: Place,
  [planner, applier]: readonly [Asked, Asked],
  name: string,
  port: number,
): Promise<string> {
  const body = { plan_id: await plannedAt(planner, place, name, port), approved_by: 'admin' };
  const applied = await ask(applier, place, 'POST', 'ai/intent/apply', body);
  expect(applied.status).toBe('pending_approval');
  return applied.workflow_id;
}

/** An account with a password of its own, and its session. */
export async function person(asked: Asked, admin: Pick<Place, 'token'>, username: string, role = 'user') {
  await ask(asked, admin, 'POST', 'users', { username, password: ADMIN_PASSWORD, role });
  const signedIn = async (password: string) =>
    (await ask(asked, {}, 'POST', 'users/login', { username, password })).data.token as string;
  const change = { oldPassword: ADMIN_PASSWORD, newPassword: PASSWORD };
  await ask(asked, { token: await signedIn(ADMIN_PASSWORD) }, 'PUT', 'users/me/password', change);
  return { username, password: PASSWORD, token: await signedIn(PASSWORD) };
}

/** A second person who may approve. */
export async function approver(asked: Asked, place: Place): Promise<Place> {
  const username = `olga-${place.workspace.toLowerCase().slice(-8)}`;
  const { token } = await person(asked, place, username);
  await ask(asked, place, 'PUT', `workspaces/${place.workspace}/members/${username}`, { role: 'admin' });
  return { token, workspace: place.workspace };
}

/** An agent that may reach the database, approved by a second person where the workspace asks for that. @returns its token */
export async function rootAgent(asked: Asked, place: Place, olga: Place, scopes: readonly string[]): Promise<string> {
  const reach = [{ to: [{ peerSelector: { matchLabels: { role: 'db' } } }] }];
  const root = { name: 'planner', reach, scopes };
  const made = await ask(asked, place, 'POST', 'agents', root);
  if (made.token) return made.token;
  await ask(asked, olga, 'POST', `workflows/${made.workflow_id}/approve`, {});
  return (await ask(asked, place, 'POST', 'agents', root)).token;
}

/** Below an agent that may write policies for the database. @returns its token */
export async function subAgent(asked: Asked, place: Place, olga: Place): Promise<string> {
  const parent = await rootAgent(asked, place, olga, ['network:read', 'network:write', 'agents:delegate']);
  const sub = {
    subAgentName: 'worker',
    ttl: '10m',
    policyPreset: 'inherit',
    scopes: ['network:read', 'network:write'],
  };
  const delegated = await ask(asked, { token: parent }, 'POST', 'agents/self/delegate', sub);
  return (await register(asked, delegated.enrollmentToken, 'worker')).body.agentToken;
}
