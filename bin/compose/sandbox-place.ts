import { NodeRefusal, type SandboxOptions } from '../../client/agent/launch.ts';
import { limitedGroup } from '../../client/sandbox/limits.ts';
import { NAMES_ADDRESS } from '../../client/sandbox/messages.ts';
import { resolvConfOf } from '../../client/sandbox/names.ts';
import { serveOpenings } from '../../client/sandbox/openings.ts';
import { prepareSandbox } from '../../client/sandbox/prepare.ts';
import { SANDBOX_HOME } from '../../client/sandbox/root-plan.ts';
import { sandboxUser } from '../../client/sandbox/user.ts';
import { loadIsolation } from '../../platform/platform.ts';
import type { SandboxPlace } from './place.ts';

/** Reasons for which a host isolates nothing, whatever is asked of it. */
const OF_THE_HOST: ReadonlySet<string> = new Set(['no-namespace', 'no-tunnel']);

/**
 * Makes the place where a command runs, and tries all that can fail there.
 *
 * @throws NodeRefusal where this host forbids it, and nobody opted in to less
 */
export async function sandboxPlace(options: SandboxOptions): Promise<SandboxPlace> {
  const caller = { uid: process.getuid?.() ?? 0, gid: process.getgid?.() ?? 0 };
  const user = sandboxUser(caller, process.env);
  try {
    return await isolatedPlace(options, caller.uid === 0, user);
  } catch (error) {
    if (!(error instanceof NodeRefusal && OF_THE_HOST.has(error.reason))) throw error;
    if (options.allowsNoIsolation && options.command.length > 0) {
      refuseWhatNeedsIsolation(options);
      return (await import('./open-place.ts')).openPlace(user, options.command);
    }
    const less = 'With --allow-no-isolation the command runs with nothing but proxy variables.';
    throw new NodeRefusal(error.reason, `${error.message} ${less}`);
  }
}

/** @throws NodeRefusal for options that nothing would keep there */
function refuseWhatNeedsIsolation({ limits, workdir, binds, egress }: SandboxOptions): void {
  const needing = [
    ...(limits.memory === undefined ? [] : ['--memory']),
    ...(limits.pids === undefined ? [] : ['--pids']),
    ...(workdir === undefined ? [] : ['--workdir']),
    ...(binds.length === 0 ? [] : ['--bind']),
    ...(egress.length === 0 ? [] : ['--egress']),
  ];
  if (needing.length === 0) return;
  const options = needing.join(' and ');
  throw new NodeRefusal(
    'wrong-setting',
    `Nothing isolates here, so ${options} cannot be kept: leave out ${options}, or --allow-no-isolation. The token was not used.`,
  );
}

async function isolatedPlace(
  { command, workdir, binds, limits }: SandboxOptions,
  isRoot: boolean,
  user: ReturnType<typeof sandboxUser>,
): Promise<SandboxPlace> {
  let reason = '';
  const isolation = await loadIsolation((why) => {
    reason = why;
  });
  if (!isolation)
    throw new NodeRefusal('no-namespace', `This machine cannot run a sandbox: ${reason}. The token was not used.`);
  const group = limitedGroup(limits);
  const searched = process.env['PATH'] ?? '';
  const request = { user, command, binds, searched, cwd: process.cwd(), ...(workdir !== undefined && { workdir }) };
  const prepared = await prepareSandbox(request, isolation).catch((error: unknown) => {
    group?.remove();
    throw error;
  });
  const { sandbox } = prepared;
  group?.add(sandbox.pid);
  const users = isRoot ? '' : 'user, ';
  return {
    isolation: `${users}network, mount, PID, IPC, UTS and cgroup namespaces, and seccomp; runs as user ${user.uid}`,
    command: prepared.command,
    home: SANDBOX_HOME,
    inside: sandbox,
    serve: ({ server, name, agentToken = '', deviceToken }, { egress }, log) =>
      serveOpenings(sandbox.sockets, {
        ...{ server, name, agentToken, log },
        deviceToken: () => deviceToken,
        destinations: egress,
      }),
    run: ({ env, graph }, ending, signal) =>
      sandbox.run({ command: prepared.command, env, resolvConf: resolvConfOf(NAMES_ADDRESS, graph) }, ending, signal),
    async close() {
      await sandbox.close();
      group?.remove();
    },
  };
}
