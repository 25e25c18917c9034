import { expect, test } from 'vitest';
import { startFaces } from './kits/http/faces-kit.ts';
import { freshKey, joinToken } from './kits/plane/devices.ts';
import { person } from './kits/plane/kit.ts';

const POLICY =
  'apiVersion: mesh.internal/v1alpha1\nkind: MeshPolicy\nmetadata: { name: base }\nspec: { action: DENY, peerSelector: {} }\n';
const asJson = { 'content-type': 'application/json' };
const asYaml = { 'content-type': 'application/yaml' };

// biome-ignore lint/suspicious/noExplicitAny: each test knows the answer of the route it calls.
const bodyOf = (response: Response): Promise<any> => response.json();

async function openPlane() {
  const faces = await startFaces();
  const workspace = await faces.kit.workspace('prod');
  faces.callers.set('operator', person('operator', workspace, 'ada')).set('root', person('platform_admin', workspace));
  return { faces, workspace, [Symbol.asyncDispose]: () => faces[Symbol.asyncDispose]() };
}

test('a device registers with its token as bearer or in the body: 201, then 200 for the same key', async () => {
  await using plane = await openPlane();
  const token = await joinToken(plane.faces.kit, plane.workspace);
  const { publicKey } = freshKey();
  const register = (bearer: string | undefined, body: object) =>
    plane.faces.send('/api/v1/devices/register', bearer, {
      method: 'POST',
      headers: asJson,
      body: JSON.stringify(body),
    });
  const first = await register(token, { name: 'a', publicKey });
  const again = await register(undefined, { token, name: 'a', publicKey });
  const [one, two] = [await bodyOf(first), await bodyOf(again)];
  expect([first.status, again.status]).toEqual([201, 200]);
  expect(two).toMatchObject({ id: one.id, existing: true });
  const graph = await plane.faces.send('/api/v1/devices/self/graph', two.deviceToken);
  expect([graph.status, (await bodyOf(graph)).self.id]).toEqual([200, one.id]);
  const none = await register(undefined, { name: 'b', publicKey });
  expect(none.status).toBe(401);
});

test('a policy and several resources are taken as YAML', async () => {
  await using plane = await openPlane();
  const headers = { ...asYaml, 'x-workspace-id': plane.workspace };
  const post = (path: string, body: string) => plane.faces.send(path, 'operator', { method: 'POST', headers, body });
  const made = await post('/api/v1/policies', POLICY);
  expect([made.status, (await bodyOf(made)).name]).toEqual([201, 'base']);
  const applied = await post('/api/v1/apply', `${POLICY}---\n${POLICY.replace('base', 'more')}`);
  expect([applied.status, (await bodyOf(applied)).items]).toEqual([
    200,
    [
      { kind: 'MeshPolicy', name: 'base', result: 'unchanged' },
      { kind: 'MeshPolicy', name: 'more', result: 'created' },
    ],
  ]);
  const broken = await post('/api/v1/apply', 'a: [');
  expect([broken.status, (await bodyOf(broken)).code]).toEqual([400, 'invalid_input']);
});

test('where writes need approval, a write answers 202 with its workflow and changes nothing', async () => {
  await using plane = await openPlane();
  const headers = { ...asJson, 'x-workspace-id': plane.workspace };
  await plane.faces.kit.call(
    'update_workspace',
    { settings: { requireApproval: true } },
    { as: person('platform_admin', plane.workspace), workspace: plane.workspace },
  );
  const body = JSON.stringify({ name: 'base', spec: { action: 'DENY', peerSelector: {} } });
  const asked = await plane.faces.send('/api/v1/policies', 'operator', { method: 'POST', headers, body });
  expect([asked.status, await bodyOf(asked)]).toEqual([
    202,
    { status: 'pending_approval', workflow_id: expect.stringMatching(/^wf_/), message: expect.any(String) },
  ]);
  expect((await plane.faces.kit.services.states.current(plane.workspace)).policies.size).toBe(0);
});
