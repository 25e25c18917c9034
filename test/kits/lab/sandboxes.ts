import { existsSync, readdirSync } from 'node:fs';
import { launcher, type Ran, type RunOptions } from '../process/run-command.ts';
import type { LabHost } from './natlab.ts';
import { LAB_SERVER, type LabPlane } from './natlab-plane.ts';

const MESH = launcher('mesh');
const USER = 1234;

/** Who starts a sandbox. */
export type Caller = 'root' | 'an ordinary user';

/** Sets the mode of the device, which machines differ in. Only the command that follows sees the change. */
const AS_USER = `
mount --make-rprivate /
mknod /dev/shm/tun-of-$$ c 10 200
chmod $1 /dev/shm/tun-of-$$
mount --bind /dev/shm/tun-of-$$ /dev/net/tun
rm /dev/shm/tun-of-$$
shift
exec setpriv --reuid=${USER} --regid=${USER} --clear-groups -- "$@"`;

/** Returns the command line by which a caller starts another one. @param mode of /dev/net/tun for an ordinary user */
export function lineOf(caller: Caller, line: readonly string[], mode = '666'): readonly string[] {
  return caller === 'root' ? line : ['unshare', '--mount', 'sh', '-c', AS_USER, 'sh', mode, ...line];
}

export const uidOf = (caller: Caller) => (caller === 'root' ? 65_534 : USER);

/** Gives delegate tokens, each for one sub-agent. */
export async function delegations(plane: LabPlane, more: object = {}): Promise<() => Promise<string>> {
  const agent = await plane.api('POST', '/api/v1/agents', { name: 'planner', ...more });
  let count = 0;
  return async () => {
    count += 1;
    const { body } = await plane.call('POST', `/api/v1/agents/${agent.id}/delegate`, {
      token: agent.token,
      body: { subAgentName: `worker-${count}`, ttl: '10m', policyPreset: 'inherit' },
    });
    return body.enrollmentToken;
  };
}

export const startLine = (command: readonly string[], options: readonly string[] = []) => [
  ...['sandbox', 'start', '--server', LAB_SERVER, ...options, '--'],
  ...command,
];

export interface SandboxRun extends RunOptions {
  readonly options?: readonly string[];
  readonly cwd?: string;
  readonly caller?: Caller;
}

/** Runs a shell script in a sandbox on a host, started in a directory. */
export function inSandbox(
  host: LabHost,
  token: string,
  script: string,
  { options = [], cwd = '/', env, caller = 'root', ...run }: SandboxRun = {},
): Promise<Ran> {
  const line = lineOf(caller, ['env', `--chdir=${cwd}`, MESH, ...startLine(['sh', '-c', script], options)]);
  const [file = '', ...args] = line;
  return host.run(file, args, { ...run, env: { HOME: '/nonexistent', ...env, MESH_TOKEN: token } });
}

/** Returns what sandboxes left on this machine. */
export function sandboxRemains(): string[] {
  const names = ['/run/mesh', '/run/netns', '/etc/netns', '/run/wireguard', '/tmp'].flatMap((directory) =>
    existsSync(directory) ? readdirSync(directory) : [],
  );
  return names.filter((name) => /mesh-[0-9a-f]{8}|mesh-sandbox|sandbox-[0-9a-f]{8}/.test(name));
}
