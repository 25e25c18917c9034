import { apiOf, configure, FIRST_CONFIG, freshWorkspace } from '../http/harness.ts';
import { joinTokenFor } from '../http/joining.ts';
import { freshDirectory, startMeshd } from '../process/meshd.ts';
import { BIN, launcher } from '../process/run-command.ts';
import { type Natlab, PLANE_NAME } from './natlab.ts';
import { gateTo } from './natlab-gate.ts';

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
  firstBin = BIN,
  app: Readonly<Record<string, unknown>> = {},
) {
  const directory = freshDirectory();
  configure(directory, { ...FIRST_CONFIG, app: { ...FIRST_CONFIG.app, ...app } });
  const host = lab.host('plane');
  const launch = async (bin: string) => {
    const command = ['ip', 'netns', 'exec', host.namespace, launcher('meshd', bin), '--standalone'] as const;
    const meshd = startMeshd({ directory, env: { ...PLANE_ENV, ...env }, command });
    await meshd.ready();
    return meshd;
  };
  let meshd = await launch(firstBin);
  const gate = await gateTo(host, 18_090);
  const call = apiOf(`http://127.0.0.1:${gate.port}`);
  const admin = await freshWorkspace(call, 'lab');

  return {
    call,
    workspace: admin.workspace,
    /** Session of the administrator. */
    session: admin.token,

    /** Calls the API as the administrator. @throws Error on an answer that is no success */
    async api(method: string, route: string, body?: unknown) {
      const answer = await call(method, route, { ...admin, ...(body !== undefined && { body }) });
      if (answer.status >= 300) throw new Error(`${method} ${route} answered ${answer.status}: ${answer.text}`);
      return answer.body;
    },

    joinToken: (usageLimit = 100) => joinTokenFor({ api: call }, admin, { usageLimit }),

    /** Ends the process; `start` brings it back on its data, by the launchers of another version where they are given. */
    stop: () => meshd.stop(),
    async start(bin = firstBin): Promise<void> {
      meshd = await launch(bin);
    },
    /** As `stop`, without a word. */
    async kill(): Promise<void> {
      meshd.signal('SIGKILL');
      await meshd.ended;
    },
    signal: (name: NodeJS.Signals) => meshd.signal(name),
    async [Symbol.asyncDispose](): Promise<void> {
      gate.close();
      await meshd.stop();
    },
  };
}

export type LabPlane = Awaited<ReturnType<typeof startLabPlane>>;
