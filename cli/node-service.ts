import { existsSync, realpathSync, statSync } from 'node:fs';
import { userInfo } from 'node:os';
import path from 'node:path';
import type { Command } from 'commander';
import { askAgent, localSocketPath } from '../client/agent/local-socket.ts';
import type { HostFirewallStatus } from '../client/agent/node-status.ts';
import { readNodeConfig } from '../client/enrol/node-config.ts';
import { defaultInterface } from '../client/tunnel/platform.ts';
import { type Answer, answering } from './answer.ts';
import { CliError, EXIT } from './exit.ts';
import { askToOpen, hostFirewallText } from './host-firewall.ts';
import { noConfiguration } from './no-configuration.ts';
import { nodeDirectory } from './node-directory.ts';
import { asCliError } from './node-errors.ts';
import { HINTS } from './node-hints.ts';
import { interfaceOf } from './node-options.ts';
import { installedLauncher, ownLauncher } from './own-command.ts';
import { requireRoot } from './root.ts';
import { localManager } from './service/local-manager.ts';
import type { NodeService, ServiceManager, ServiceStatus } from './service/service.ts';
import { UNQUOTABLE } from './service/systemd-unit.ts';
import { requireUpOptions, withUpOptions } from './service/up-options.ts';
import { hasUserSystemd } from './service/user-systemd.ts';

/** A node that has not ended within this goes on by itself. */
const SETTLE_MS = 10_000;
/** Longest wait for an overlay whose host is to be opened, as of `mesh up --daemon`. */
const OPEN_MS = 60_000;
const POLL_MS = 200;

interface ServiceOptions {
  readonly interface: string;
  readonly configDir?: string;
  readonly print?: boolean;
  readonly user?: boolean;
}

/** `mesh service`: the node of this machine under its service manager. */
export function defineService(service: Command): void {
  const named = (command: Command) =>
    command
      .option('--interface <name>', 'interface of the node', interfaceOf, defaultInterface(process.platform))
      .option('--user', 'a node in userspace mode under the systemd of this user, without superuser rights');
  const installing = service.command('install').exitOverride((error) => {
    throw withUpOptions(error) ?? error;
  });
  answering(
    named(installing)
      .description(
        'start the node now and with the machine, and again when it fails; needs superuser rights, or --user',
      )
      .argument('[options...]', 'options of mesh up, after --')
      .option('--config-dir <dir>', 'directory that mesh init wrote (~/.mesh)')
      .option('--print', 'print the file that it would write, and change nothing'),
    install,
  );
  answering(
    named(service.command('start')).description(
      'start the service after its node was ended; needs superuser rights, or --user',
    ),
    start,
  );
  answering(
    named(service.command('stop', { hidden: true })),
    ({ interface: name, user: isUsers }: ServiceOptions): Promise<Answer> => {
      const again = HINTS.startService({ interfaceName: name, isUsers });
      const message = `A service is not stopped so. End its node: ${HINTS.down({})}. It is up again by ${again}, or with the next start of the machine.`;
      return Promise.reject(new CliError(message, EXIT.input));
    },
  );
  answering(
    named(service.command('uninstall')).description(
      'end the node and start it no more; it stays registered; needs superuser rights, or --user',
    ),
    uninstall,
  );
  answering(
    named(service.command('status')).description('show whether the service runs, and starts with the machine'),
    async (given: ServiceOptions): Promise<Answer> => statusAnswer(await statusOf(given), given),
  );
}

async function install(options: readonly string[], given: ServiceOptions): Promise<Answer> {
  await requireUpOptions(options);
  if (given.user && options.includes('--no-userspace'))
    throw new CliError('A service of a user has no interface: leave out --no-userspace, or --user.', EXIT.input);
  const service = serviceOf(options, given);
  const manager = localManager(given.user);
  if (given.print)
    return { value: { text: manager.render(service) }, text: manager.render(service).trimEnd().split('\n') };
  requireManager('install', given, options);
  await requireNode(service, manager);
  const putBack = await ran(() => manager.install(service));
  const { status, isUp } = await settled(service, given);
  if (status.state !== 'running') {
    const what = putBack ? 'is as it was before' : 'is installed';
    await ran(async () => putBack?.());
    throw new CliError(
      `${status.name} ${what}, ${putBack ? 'since' : 'and'} its node does not come up: ${status.detail}. See ${manager.logHint(service.interfaceName)}`,
      EXIT.unavailable,
    );
  }
  const opens = options.includes('--open-firewall');
  const opened = opens && isUp ? await openHostFirewall(service.directory) : undefined;
  const lines = [
    `${status.name} is installed (${status.file}) and ${status.state}${isUp ? '' : '; its node does not answer yet, and goes on trying'}.`,
    ...(opened ? [hostFirewallText(opened, service.directory)] : []),
    ...(opens && !opened ? ['The firewall of this host is looked at, and opened, once the overlay is up.'] : []),
  ];
  return {
    value: { ...status, ...(opened && { hostFirewall: opened }) },
    text: lines,
    hints: [
      ...(given.user && !status.atBoot ? [LINGER()] : []),
      `See it: ${HINTS.status({ directory: service.directory })}`,
      `Its log: ${manager.logHint(service.interfaceName)}`,
    ],
  };
}

async function start(given: ServiceOptions): Promise<Answer> {
  requireManager('start', given);
  requireInstalled(await statusOf(given), given);
  await ran(() => localManager(given.user).start(given.interface));
  return statusAnswer(await statusOf(given), given);
}

async function uninstall(given: ServiceOptions): Promise<Answer> {
  requireManager('uninstall', given);
  const { interface: name, user } = given;
  const { name: unit } = await statusOf(given);
  const wasThere = await ran(() => localManager(user).uninstall(name));
  if (!wasThere) throw new CliError(`There is no service ${unit} on this machine.`, EXIT.notFound);
  return {
    value: { name: unit, state: 'not installed' },
    text: `${unit} is gone. The node stays registered.`,
    hints: [`To remove it from the network too: ${HINTS.leave({ interfaceName: name })}`],
  };
}

function serviceOf(
  options: readonly string[],
  { configDir, interface: interfaceName, user }: ServiceOptions,
): NodeService {
  const directory = nodeDirectory(configDir);
  const installation = realpathSync(path.resolve(path.dirname(ownLauncher()), '..'));
  const isOwnNode = process.execPath.startsWith(`${installation}/`);
  const software = isOwnNode ? [installation] : [installation, process.execPath];
  if ([directory, ...software, ...options].some((word) => /\p{Cc}/u.test(word)))
    throw new CliError('A service takes no line breaks or control characters in paths and options.', EXIT.input);
  const launcher = installedLauncher();
  const unfit = [directory, ...software, launcher].find((place) => UNQUOTABLE.test(place));
  if (unfit !== undefined && process.platform !== 'darwin')
    throw new CliError(`systemd takes no colon, quote or backslash in ${unfit}: use another directory.`, EXIT.input);
  return {
    launcher,
    software,
    directory,
    isDirectoryRoots: !existsSync(directory) || statSync(directory).uid === 0,
    interfaceName,
    isUsers: user === true,
    options,
  };
}

/** Until the node answers, has failed, or takes so long that it is left to itself. */
async function settled(
  { directory }: NodeService,
  given: ServiceOptions,
): Promise<{ status: ServiceStatus; isUp: boolean }> {
  const deadline = performance.now() + SETTLE_MS;
  for (;;) {
    const answer = await askAgent(localSocketPath(directory), { ask: 'status' }).catch(() => undefined);
    const isUp = answer !== undefined;
    const status = await statusOf(given);
    if (isUp || status.state !== 'running' || performance.now() > deadline) return { status, isUp };
    await new Promise((resolve) => setTimeout(resolve, POLL_MS));
  }
}

/** Returns the host firewall after the opening; undefined where the overlay is not up in time. */
async function openHostFirewall(directory: string): Promise<HostFirewallStatus | undefined> {
  const deadline = performance.now() + OPEN_MS;
  while (performance.now() < deadline) {
    const opened = await askToOpen(directory).catch(() => undefined);
    if (opened) return opened;
    await new Promise((resolve) => setTimeout(resolve, POLL_MS));
  }
  return undefined;
}

/** @throws CliError where there is no node to start, or it is up by other means */
async function requireNode({ directory, interfaceName }: NodeService, manager: ServiceManager): Promise<void> {
  try {
    if (!readNodeConfig(directory)) throw noConfiguration(directory);
  } catch (error) {
    throw asCliError(error);
  }
  const { state } = await manager.status(interfaceName);
  if (state === 'running') return;
  const isUp = await askAgent(localSocketPath(directory), { ask: 'status' }).catch(() => undefined);
  if (isUp === undefined) return;
  throw new CliError(
    `The node of ${directory} is up already, not as a service. End it first: ${HINTS.down({ directory })}`,
    EXIT.conflict,
  );
}

/** From the start of the machine a service of a user runs where the user lingers. */
const LINGER = () =>
  `It runs while you are logged in. To have it start with the machine: sudo loginctl enable-linger ${userInfo().username}`;

/** @throws CliError without the rights for it, or where there is no service manager that is known here */
function requireManager(verb: string, given: ServiceOptions, upOptions: readonly string[] = []): void {
  const { configDir, interface: interfaceName, user: isUsers } = given;
  const directory = nodeDirectory(configDir);
  const isUsual = interfaceName === defaultInterface(process.platform);
  const print = HINTS.printService({ directory, ...(!isUsual && { interfaceName }), isUsers, upOptions });
  if (isUsers) {
    requireUserManager(directory, print);
    return;
  }
  requireRoot(`mesh service ${verb}`);
  if (process.platform === 'darwin' || existsSync('/run/systemd/system')) return;
  throw new CliError(
    `This machine is not run by systemd. Have its service manager start what this says: ${print}`,
    EXIT.unavailable,
  );
}

function requireUserManager(directory: string, print: string): void {
  if (hasUserSystemd()) return;
  const isSystemd = existsSync('/run/systemd/system');
  const remedy = isSystemd
    ? `Log in as this user, or have one started: sudo loginctl enable-linger ${userInfo().username}`
    : `Have another service manager start what this says: ${print}`;
  const lines = [
    `No systemd of this user runs here. ${remedy}`,
    `Or run it until this machine is shut down: ${HINTS.upInUserspace({ directory })}`,
  ];
  throw new CliError(lines.join('\n'), EXIT.unavailable);
}

async function statusOf({ interface: interfaceName, user }: ServiceOptions): Promise<ServiceStatus> {
  return ran(() => localManager(user).status(interfaceName));
}

function statusAnswer(status: ServiceStatus, given: ServiceOptions): Answer {
  requireInstalled(status, given);
  const { name, state, atBoot, pid, detail } = status;
  const lines = [
    `${name} is ${state}${pid === null ? '' : ` (pid ${pid})`}, ${atBoot ? 'starts' : 'does not start'} with the machine`,
    detail,
    ...(given.user && !atBoot ? [LINGER()] : []),
    `Log: ${localManager(given.user).logHint(given.interface)}`,
  ];
  return { value: status, text: lines, ...(state !== 'running' && { exitCode: EXIT.negative }) };
}

/** @throws CliError */
function requireInstalled(
  { name, state }: ServiceStatus,
  { interface: interfaceName, user: isUsers }: ServiceOptions,
): void {
  if (state !== 'not installed') return;
  throw new CliError(
    `There is no service ${name} on this machine. Install it: ${HINTS.installService({ interfaceName, isUsers })}`,
    EXIT.notFound,
  );
}

async function ran<T>(run: () => Promise<T>): Promise<T> {
  try {
    return await run();
  } catch (error) {
    throw new CliError((error as Error).message, EXIT.unavailable);
  }
}
