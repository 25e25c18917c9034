import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { request } from 'node:http';
import path from 'node:path';
import { stringify } from 'yaml';
import { ADMIN_PASSWORD, type ApiAnswer, type ApiOptions } from './harness.ts';
import { freshDirectory, startMeshd } from './meshd.ts';
import { type Natlab, PLANE_NAME } from './natlab.ts';

/** The control plane of a lab as its hosts see it. */
export const LAB_SERVER = `http://${PLANE_NAME}:18090`;

const PLANE_ENV = {
  MESH_LISTEN: '[::]:18090',
  MESH_BUS_LISTEN: '[::]:4222',
  MESH_RELAY_LISTEN: '[::]:6266',
  MESH_STUN_LISTEN: '[::]:3478',
  MESH_SIGNALING_URL: `nats://${PLANE_NAME}:4222`,
  MESH_RELAY_ADVERTISE_URL: `${PLANE_NAME}:6266`,
  MESH_STUN_URL: `${PLANE_NAME}:3478`,
};

/** A real `meshd` on the lab's plane, with the contract's ports, and an administrator's session on a workspace. */
export async function startLabPlane(
  lab: Natlab,
  env: Readonly<Record<string, string>> = {},
  directory = freshDirectory(),
) {
  const config = { app: { initAdmins: [{ username: 'admin', password: ADMIN_PASSWORD }] } };
  writeFileSync(path.join(directory, 'config.yaml'), stringify(config), { mode: 0o600 });
  const host = lab.host('plane');
  const launch = () =>
    startMeshd({
      directory,
      env: { ...PLANE_ENV, ...env },
      command: ['ip', 'netns', 'exec', host.namespace, path.resolve('bin/meshd'), '--standalone'],
    });
  let meshd = launch();
  await meshd.ready();
  const socketPath = path.join(directory, 'gate.sock');
  const gate = host.spawn('node', [path.join(import.meta.dirname, 'natlab-gate.ts'), socketPath, '18090']);
  if (gate.stdout) await once(gate.stdout, 'data');

  const call = (method: string, route: string, { token, workspace, body, headers = {} }: ApiOptions = {}) =>
    new Promise<ApiAnswer>((resolve, reject) => {
      const text = body === undefined ? undefined : typeof body === 'string' ? body : JSON.stringify(body);
      const sent = request({
        socketPath,
        method,
        path: route,
        headers: {
          ...(token !== undefined && { authorization: `Bearer ${token}` }),
          ...(workspace !== undefined && { 'x-workspace-id': workspace }),
          ...(text !== undefined && { 'content-type': 'application/json', 'content-length': Buffer.byteLength(text) }),
          ...headers,
        },
      });
      sent.on('error', reject);
      sent.on('response', async (response) => {
        const chunks: Buffer[] = [];
        for await (const chunk of response) chunks.push(chunk as Buffer);
        const answer = Buffer.concat(chunks).toString();
        const fields = Object.entries(response.headersDistinct).map(([name, values]) => [
          name,
          values?.join(', ') ?? '',
        ]);
        const parsed = answer.startsWith('{') || answer.startsWith('[') ? JSON.parse(answer) : undefined;
        const answered = new Headers(fields as [string, string][]);
        resolve({ status: response.statusCode ?? 0, headers: answered, text: answer, body: parsed });
      });
      sent.end(text);
    });

  const login = await call('POST', '/api/v1/users/login', { body: { username: 'admin', password: ADMIN_PASSWORD } });
  const token: string = login.body.data.token;
  const fields = { slug: 'lab', namespace: 'lab', displayName: 'Lab', maxNodeCount: 250 };
  const added = await call('POST', '/api/v1/workspaces/add', { token, body: fields });
  const workspace: string = added.body.data.id;

  /** Calls the API as the administrator. @throws Error on an answer that is no success */
  async function api(method: string, route: string, body?: unknown) {
    const answer = await call(method, route, { token, workspace, ...(body !== undefined && { body }) });
    if (answer.status >= 300) throw new Error(`${method} ${route} answered ${answer.status}: ${answer.text}`);
    return answer.body;
  }

  return {
    api,
    call,
    token,
    workspace,
    directory,
    log: () => `${meshd.stdout()}${meshd.stderr()}`,

    /** A join token for many devices with these labels. */
    async joinToken(labels: Readonly<Record<string, string>> = {}): Promise<string> {
      const body = { name: 'lab', expiry: '', usageLimit: 200, labels };
      return (await api('POST', '/api/v1/token/generate', body)).token;
    },

    /** Everyone may reach everyone. */
    async allowAll(): Promise<void> {
      const spec = { peerSelector: {}, action: 'ALLOW', ingress: [{ from: [{ peerSelector: {} }] }] };
      await api('POST', '/api/v1/policies', { name: 'allow-all', spec });
    },

    /** Ends the process; `start` brings it back on its data. */
    stop: () => meshd.stop(),
    async start(): Promise<void> {
      meshd = launch();
      await meshd.ready();
    },
    async [Symbol.asyncDispose](): Promise<void> {
      await meshd.stop();
    },
  };
}

export type LabPlane = Awaited<ReturnType<typeof startLabPlane>>;
