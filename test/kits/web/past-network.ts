import { ADMIN_PASSWORD, type Harness, startHarness } from '../http/harness.ts';
import { joinDevice } from '../http/network-setup.ts';

export const OWN_PASSWORD = 'a password of my own 42';

const HOUR_MS = 3_600_000;
const INTENT = 'let role=ops reach role=db on port 5432';

/**
 * A plane with a day behind it: devices join, a policy lets web servers reach the database, another one lets build machines
 * in until its time is over, an approved change lets operations in, and at last the web servers are shut out. Then it is now.
 */
export async function startPastNetwork() {
  let behind = 23 * HOUR_MS;
  const harness = await startHarness({ clock: { now: () => Date.now() - behind } });
  const pass = (hours: number) => {
    behind -= hours * HOUR_MS;
  };
  const first = await harness.workspace();
  const { workspace } = first;
  for (const [name, role] of [
    ['web-1', 'web'],
    ['web-2', 'web'],
    ['orders-db', 'db'],
    ['build-7', 'ci'],
    ['ada-laptop', 'ops'],
  ] as const)
    await joinDevice(harness, first, name, { role });
  pass(1);
  await allow(harness, first, { name: 'web-to-db', from: 'web' });
  pass(2);
  const expiresAt = new Date(Date.now() - behind + 2 * HOUR_MS).toISOString();
  await allow(harness, first, { name: 'build-to-db', from: 'ci', expiresAt });
  pass(9);
  const workflow = await approved(harness, { token: await harness.login(), workspace });
  pass(9);
  await harness.api('DELETE', '/api/v1/policies/web-to-db', { token: await harness.login(), workspace, body: {} });
  behind = 0;
  const token = await harness.login();
  await addPerson(harness, { token, workspace }, 'vera', 'viewer');
  const passwords = { oldPassword: ADMIN_PASSWORD, newPassword: OWN_PASSWORD };
  await harness.api('PUT', '/api/v1/users/me/password', { token, body: passwords });
  return { ...harness, workspace, workflow, owner: () => harness.login('admin', OWN_PASSWORD) };
}

export type PastNetwork = Awaited<ReturnType<typeof startPastNetwork>>;

interface Place {
  readonly token: string;
  readonly workspace: string;
}

async function allow(
  harness: Harness,
  place: Place,
  { name, from, expiresAt }: { readonly name: string; readonly from: string; readonly expiresAt?: string },
): Promise<void> {
  const peers = { peerSelector: { matchLabels: { role: from } } };
  const spec = {
    action: 'ALLOW',
    peerSelector: { matchLabels: { role: 'db' } },
    ingress: [{ from: [peers], ports: [{ protocol: 'TCP', port: 5432 }] }],
    ...(expiresAt && { expiresAt }),
  };
  const { status, text } = await harness.api('POST', '/api/v1/policies', { ...place, body: { name, spec } });
  if (status !== 201) throw new Error(text);
}

/** A change by intent that a person approved; the id of its workflow. */
async function approved(harness: Harness, place: Place): Promise<string> {
  const wanted = { workspace_id: place.workspace, intent: INTENT, dry_run: false };
  const plan = await harness.api('POST', '/api/v1/ai/intent/plan', { ...place, body: wanted });
  const body = { plan_id: plan.body.plan_id, approved_by: 'admin' };
  const { workflow_id: id } = (await harness.api('POST', '/api/v1/ai/intent/apply', { ...place, body })).body;
  const done = await harness.api('POST', `/api/v1/workflows/${id}/approve`, { ...place, body: {} });
  if (done.body.status !== 'executed') throw new Error(plan.text + done.text);
  return id;
}

async function addPerson(harness: Harness, { token, workspace }: Place, username: string, role: string) {
  const made = await harness.api('POST', '/api/v1/users', { token, body: { username, password: ADMIN_PASSWORD } });
  if (made.status !== 201) throw new Error(made.text);
  await harness.api('PUT', `/api/v1/workspaces/${workspace}/members/${username}`, { token, body: { role } });
  const own = await harness.login(username);
  const passwords = { oldPassword: ADMIN_PASSWORD, newPassword: OWN_PASSWORD };
  await harness.api('PUT', '/api/v1/users/me/password', { token: own, body: passwords });
}
