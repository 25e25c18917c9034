import { lookup } from 'node:dns/promises';
import { connect } from 'node:net';
import { setTimeout as after } from 'node:timers/promises';
import { connectAgent } from '../first-change/agent.ts';

/**
 * The child, any program in a sandbox: it knows the address of its control plane, which is a door, and no token. It asks the database,
 * tries what it may not reach, asks for more, and stays until its time is over.
 */
const { MESH_SERVER: server = '', MESH_SANDBOX: name = '' } = process.env;
const PAUSE_MS = 200;

interface Applied {
  readonly workflow_id: string;
  readonly status: string;
}

function say(fields: object): void {
  process.stdout.write(`${JSON.stringify(fields)}\n`);
}

/** Resolves with the first bytes of a port, or the code of the error. */
function ask(host: string, port: number): Promise<string> {
  return new Promise((resolve) => {
    const connection = connect(port, host);
    connection.once('error', ({ code }: NodeJS.ErrnoException) => resolve(`${code}`));
    connection.once('data', (bytes) => {
      connection.destroy();
      resolve(`${bytes}`);
    });
  });
}

const isSecret = (text = '') => text.includes('mesh-agt-') || text.includes('mesh-dlg-');
say({ name, uid: process.getuid?.(), secrets: Object.values(process.env).filter(isSecret).length });
const { address } = await lookup('db');
say({ address, database: await ask('db', 5432), shell: await ask('db', 22), reports: await ask('db', 9090) });
say({ internet: await ask('192.0.2.1', 443), planeDirectly: await ask('127.0.0.1', Number(process.argv[2])) });

const agent = await connectAgent(server);
const intent = `let ${name} reach db on port 9090`;
const { plan_id } = await agent.use<{ plan_id: string }>('plan_network_change', { intent });
const applied = await agent.use<Applied>('apply_network_change', { plan_id, approved_by: 'admin' });
say({ asked: applied.status, workflow: applied.workflow_id });
const decision = async () =>
  (await agent.use<{ status: string }>('get_workflow', { workflow_id: applied.workflow_id })).status;
while ((await decision()) !== 'executed') await after(PAUSE_MS);
let reports = await ask('db', 9090);
// The nodes hear of the decision a moment later.
while (reports !== 'db 9090') {
  await after(PAUSE_MS);
  reports = await ask('db', 9090);
}
say({ approved: reports });
await agent.close();
// Until its time is over, which ends all that runs in there.
setInterval(() => {}, 60_000);
