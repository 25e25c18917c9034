import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { join, type MeshNode } from '../../bin/node.ts';
import { call, type Rest } from '../first-change/person.ts';

export interface SandboxedJobOptions {
  readonly server: string;
  /** Session of a platform administrator, the person of this story. */
  readonly token: string;
  /** Time that the child gets, such as `40s`. */
  readonly ttl: string;
  /** Words before the parent's command, by which it runs as another user. */
  readonly as?: readonly string[];
  /** Hears of each step. */
  readonly say: (step: string, detail?: unknown) => void;
}

const REPOSITORY = path.resolve(import.meta.dirname, '../..');

/** The story from end to end; answers what the child and the parent found. */
export async function sandboxedJob({ server, token, ttl, as = [], say }: SandboxedJobOptions) {
  const person = await workspace(server, token);
  await using db = await served(person, 'db', [5432, 22, 9090]);
  const { name } = await db.status();
  await call(person, 'POST', '/api/v1/policies', {
    name: 'database',
    spec: { action: 'ALLOW', peerSelector: { matchLabels: { name: 'db' } }, ingress: [{ ports: [{ port: 5432 }] }] },
  });
  say('A person set up a workspace; a database joined it, which everybody reaches on port 5432 alone.', name);

  const deployer = await call<{ token: string }>(person, 'POST', '/api/v1/agents', {
    name: 'deployer',
    scopes: ['network:read', 'intents:plan', 'intents:apply', 'agents:delegate'],
    ttl: '1h',
    policyPreset: 'sandboxed',
    reach: [{ to: [{ peerSelector: { matchLabels: { name: 'db' } } }], ports: [{ port: 5432 }, { port: 9090 }] }],
  });
  const running = sandbox(server, deployer.token, ttl, as);
  const exit = once(running, 'exit');
  say('The parent starts a child in a sandbox, by one command, with two ports of the database.');
  const found: Record<string, unknown> = {};
  for await (const line of createInterface({ input: running.stdout ?? process.stdin })) {
    const told = JSON.parse(line) as Record<string, unknown>;
    say('The child:', told);
    Object.assign(found, told);
    if (typeof told['workflow'] !== 'string') continue;
    const approve = `/api/v1/workflows/${told['workflow']}/approve`;
    const { status } = await call<{ status: string }>(person, 'POST', approve, { note: 'the reports, too' });
    say('A person approves what the child asks for.', status);
  }
  const [exitCode] = await exit;
  const endedAt = Date.now();
  const { items } = await call<{ items: { name: string; expiresAt: string }[] }>(person, 'GET', '/api/v1/agents');
  const expiresAt = items.find((agent) => agent.name === 'reporter')?.expiresAt ?? '';
  const peers = await call<{ items: { name: string }[] }>(person, 'GET', '/api/v1/peers');
  const left = peers.items.map((peer) => peer.name);
  say('Its time is over. These peers are left:', left);
  return { found, exitCode, left, expiresAt, endedAt };
}

/** The token of the parent is in the environment; that of the child is made by the command, and stays in its memory. */
function sandbox(server: string, token: string, ttl: string, as: readonly string[]): ChildProcess {
  const { port } = new URL(server);
  const delegate = ['--delegate', 'reporter', '--ttl', ttl, '--preset', 'sandboxed'];
  const scopes = ['network:read', 'intents:plan', 'intents:apply'].flatMap((scope) => ['--scope', scope]);
  const reach = ['--reach', 'name=db:5432', '--reach', 'name=db:9090'];
  const child = [process.execPath, path.join(import.meta.dirname, 'child.ts'), port];
  const mesh = [path.join(REPOSITORY, 'bin/mesh'), 'sandbox', 'start', ...delegate, ...scopes, ...reach];
  const [file = '', ...args] = [...as, ...mesh, '--', ...child];
  return spawn(file, args, {
    cwd: REPOSITORY,
    env: { PATH: process.env['PATH'], HOME: process.env['HOME'], MESH_SERVER: server, MESH_TOKEN: token },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
}

async function workspace(server: string, token: string): Promise<Rest> {
  const slug = `sandbox-${Date.now().toString(36)}`;
  const fields = { slug, namespace: slug, displayName: 'Agent in a sandbox', maxNodeCount: 20 };
  const { data } = await call<{ data: { id: string } }>({ server, token }, 'POST', '/api/v1/workspaces/add', fields);
  return { server, token, workspace: data.id };
}

/** A peer of this process that greets on some ports. */
async function served(person: Rest, name: string, ports: readonly number[]): Promise<MeshNode> {
  const made = await call<{ token: string }>(person, 'POST', '/api/v1/token/generate', {
    ...{ name, expiry: '1h', usageLimit: 1 },
    labels: { name },
  });
  const node = await join({ server: person.server, token: made.token, name });
  for (const port of ports) {
    (await node.listen(port)).on('connection', (connection) => connection.write(`${name} ${port}`));
  }
  return node;
}
