import { type ChildProcess, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { constants } from 'node:os';
import type { NodeConfig } from '../../client/enrol/node-config.ts';
import { PROXY_USER } from '../../client/proxy/credential.ts';
import { Destinations } from '../../client/proxy/destinations.ts';
import { startProxy } from '../../client/proxy/proxy.ts';
import type { SandboxUser } from '../../client/sandbox/user.ts';
import type { SandboxPlace } from './place.ts';

const END_MS = 5_000;

/**
 * The host itself, for who opted in where it forbids namespaces: nothing keeps the command from anything of its user. It reaches the overlay
 * by a proxy that its variables name, and has its credential.
 */
export function openPlace(user: SandboxUser, command: readonly string[]): SandboxPlace {
  let child: ChildProcess | undefined;
  const signalTo = (signal: NodeJS.Signals) => child?.kill(signal);
  return {
    command,
    isolation: 'none (--allow-no-isolation): proxy variables alone',
    async serve(config, _options, log, overlay) {
      const destinations = new Destinations({ connect: (remote) => overlay.node?.connect(remote), isDirect: false });
      const credential = { password: randomBytes(24).toString('base64url'), file: '' };
      const listen = { host: '127.0.0.1', port: 0 };
      const proxy = await startProxy({ listen, destinations, credential, log });
      return {
        use: (graph) => destinations.use(graph),
        variables: () => variablesOf(config, `${PROXY_USER}:${credential.password}@${proxy.status.address}`),
        close: () => proxy.close(),
      };
    },
    async run({ env }, ending, signal) {
      const [file = '', ...args] = command;
      const as = process.getuid?.() === 0 ? { uid: user.uid, gid: user.gid } : {};
      child = spawn(file, args, { ...as, env: { ...env }, stdio: 'inherit' });
      const { promise: ended, resolve, reject } = Promise.withResolvers<number>();
      child.once('error', reject);
      child.once('exit', (code, by) => resolve(code ?? 128 + (by ? constants.signals[by] : 0)));
      let timer: NodeJS.Timeout | undefined;
      const end = () => {
        signalTo(signal() ?? 'SIGTERM');
        timer = setTimeout(() => signalTo('SIGKILL'), END_MS);
      };
      ending.addEventListener('abort', end, { once: true });
      if (ending.aborted) end();
      return ended.finally(() => clearTimeout(timer));
    },
    async close() {
      if (child?.exitCode === null) signalTo('SIGKILL');
    },
  };
}

function variablesOf({ server, agentToken }: NodeConfig, proxy: string): Record<string, string> {
  const [socks, http] = [`socks5h://${proxy}`, `http://${proxy}`];
  return {
    MESH_SERVER: server,
    ...(agentToken !== undefined && { MESH_TOKEN: agentToken }),
    ...{ ALL_PROXY: socks, all_proxy: socks, HTTP_PROXY: http, http_proxy: http, HTTPS_PROXY: http, https_proxy: http },
    // The host's own would lead programs around the proxy.
    ...{ NO_PROXY: '', no_proxy: '' },
  };
}
