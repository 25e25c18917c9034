import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { join, type MeshNode } from '../../bin/node.ts';
import { connectAgent } from '../first-change/agent.ts';
import { call, type Rest } from '../first-change/person.ts';

export interface DelegatedJobOptions {
  readonly server: string;
  /** Session of a platform administrator, the person of this story. */
  readonly token: string;
  /** Time that the child gets, such as `20s`. */
  readonly ttl: string;
  /** User that the child runs as; left out: this one. */
  readonly uid?: number;
  /** Hears of each step. */
  readonly say: (step: string, detail?: unknown) => void;
}

/** The story from end to end; answers what the child and the parent found. */
export async function delegatedJob({ server, token, ttl, uid, say }: DelegatedJobOptions) {
  const person = await workspace(server, token);
  await using db = await served(person, 'db', [5432, 22]);
  await using web = await served(person, 'web', [5432]);
  const names = [db, web].map(async (node) => (await node.status()).name);
  say('A person set up a workspace; a database and a web server joined it.', await Promise.all(names));

  const database = {
    to: [{ peerSelector: { matchLabels: { name: 'db' } } }],
    ports: [{ protocol: 'TCP', port: 5432 }],
  };
  const parent = await call<{ id: string; token: string }>(person, 'POST', '/api/v1/agents', {
    name: 'deployer',
    scopes: ['network:read', 'agents:delegate'],
    ttl: '1h',
    policyPreset: 'coordinator',
    reach: [database],
  });
  const agent = await connectAgent(server, parent.token);
  try {
    const child = { id: parent.id, subAgentName: 'reporter', ttl, policyPreset: 'sandboxed' };
    const delegated = await agent.use<{ enrollmentToken: string; expiresAt: string }>('delegate_agent', {
      ...child,
      egress: [database],
    });
    say('The parent delegates by MCP: one port of the database, for so long.', delegated.expiresAt);
    const running = childProcess(server, delegated.enrollmentToken, uid);
    const exit = once(running, 'exit');
    const found: Record<string, unknown> = {};
    for await (const line of createInterface({ input: running.stdout ?? process.stdin })) {
      say('The child:', JSON.parse(line));
      Object.assign(found, JSON.parse(line));
    }
    const [exitCode] = await exit;
    const { items } = await agent.use<{ items: { name: string }[] }>('list_peers');
    const left = items.map(({ name }) => name);
    say('Its time is over. These peers are left:', left);
    return { delegated, found, exitCode, left, endedAt: Date.now() };
  } finally {
    await agent.close();
  }
}

/** A process of its own, which gets the address and the token and nothing else. */
function childProcess(server: string, token: string, uid: number | undefined): ChildProcess {
  const program = path.join(import.meta.dirname, 'child.ts');
  return spawn(process.execPath, [program], {
    env: { MESH_SERVER: server, MESH_TOKEN: token },
    stdio: ['ignore', 'pipe', 'inherit'],
    ...(uid !== undefined && { uid, gid: uid }),
  });
}

async function workspace(server: string, token: string): Promise<Rest> {
  const slug = `program-${Date.now().toString(36)}`;
  const fields = { slug, namespace: slug, displayName: 'Agent in a program', maxNodeCount: 20 };
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
