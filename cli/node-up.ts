import { type Command, Option } from 'commander';
import { type NodeOptions, NodeRefusal } from '../client/agent/launch.ts';
import { NODE_LOG_LEVELS, type NodeLogLevel } from '../client/agent/node-log.ts';
import { readNodeConfig } from '../client/enrol/node-config.ts';
import { defaultInterface } from '../client/tunnel/platform.ts';
import type { HostPort } from '../net/host-port.ts';
import { parseRelayAddress } from '../net/relay/address.ts';
import { type Answer, answering, type Format, formatIn, print } from './answer.ts';
import { outliveOutput } from './closed-output.ts';
import type { CommandContext } from './command-context.ts';
import { CliError, EXIT } from './exit.ts';
import { openOnRunning } from './host-firewall.ts';
import { noConfiguration } from './no-configuration.ts';
import { greetingText, notifyParent, runInBackground, stoppedError } from './node-daemon.ts';
import { nodeDirectory } from './node-directory.ts';
import { asCliError, exitCodeOfEnd } from './node-errors.ts';
import { acceptRoutesOption, ageOf, busWaitOption, interfaceOf, portOf, proxyOf, relayOf } from './node-options.ts';
import { LOG_DIRECTORY_TEXT, logDirectoryOf } from './node-rights.ts';

interface UpOptions {
  readonly daemon?: boolean;
  readonly daemonChild?: boolean;
  readonly configDir?: string;
  readonly name?: string;
  readonly level: NodeLogLevel;
  readonly enableSysLog?: boolean;
  readonly wgPort: number;
  readonly dns: boolean;
  readonly writeResolvConf?: boolean;
  readonly rotateKeyAfter?: number;
  readonly relayUrl?: string;
  readonly busWait: number;
  readonly busInClear?: boolean;
  readonly interface: string;
  readonly logDir?: string;
  readonly userspace?: boolean;
  readonly proxy: HostPort;
  readonly proxyOpen?: boolean;
  readonly proxyDirect?: boolean;
  readonly openFirewall?: boolean;
  readonly acceptRoutes?: readonly string[];
}

/** The contract's WireGuard port. */
const DEFAULT_PORT = 51_820;
const DEFAULT_PROXY: HostPort = { host: '127.0.0.1', port: 1_055 };

/** `mesh up`: brings this node into the network, in the foreground or as a daemon. */
export function defineUp(command: Command, { loadLauncher }: CommandContext): void {
  command
    .option('--daemon', 'run in the background, with logs below --log-dir')
    .option('--config-dir <dir>', 'directory that mesh init wrote (~/.mesh)')
    .option('--name <name>', 'give this node another name')
    .addOption(new Option('--level <level>', 'what is logged').choices(NODE_LOG_LEVELS).default('info'))
    .option('--enable-sys-log', 'log what WireGuard and ICE do in detail')
    .option('--wg-port <port>', 'UDP port of WireGuard and ICE', portOf, DEFAULT_PORT)
    .option('--rotate-key-after <duration>', 'change the key of this node whenever it is so old, such as 90d', ageOf)
    .option('--no-dns', 'leave names of peers unresolved: no DNS server, and nothing told to the resolver of this host')
    .addOption(
      new Option(
        '--write-resolv-conf',
        'put this node first in /etc/resolv.conf while it runs, where the host has no resolver that can be told of names alone',
      ).conflicts('dns'),
    )
    .option('--relay-url <host:port>', 'relay in place of the advertised one', relayOf)
    .addOption(busWaitOption())
    .option(
      '--bus-in-clear',
      'sign in to a bus elsewhere without TLS too: who listens on the way learns the credential',
    )
    .option('--interface <name>', 'name of the tunnel interface', interfaceOf, defaultInterface(process.platform))
    .option(
      '--open-firewall',
      "have this host's own firewall accept the overlay while the node is up, where it does not; of one that is up too",
    )
    .addOption(acceptRoutesOption())
    .option('--userspace', 'without superuser rights and interface: programs reach peers by a proxy; remembered')
    .option('--no-userspace', 'with an interface again; remembered')
    .option(
      '--proxy <host:port>',
      'loopback address of the proxy in userspace mode, for SOCKS5 and HTTP; port 0: any (127.0.0.1:1055)',
      proxyOf,
      DEFAULT_PROXY,
    )
    .option('--proxy-open', 'let every program of this host use the proxy without its password')
    .option('--proxy-direct', 'have the proxy reach other addresses too, from this host')
    .option('--log-dir <dir>', `where --daemon logs ${LOG_DIRECTORY_TEXT}`)
    .addOption(new Option('--daemon-child').hideHelp());
  answering(command, async (options: UpOptions): Promise<Answer> => {
    try {
      // A node that is already up needs nothing else.
      const opened =
        options.openFirewall && !options.daemonChild && (await openOnRunning(nodeDirectory(options.configDir)));
      if (opened) return opened;
      if (options.daemon) await requireNoService(nodeDirectory(options.configDir));
      if (options.daemon) {
        const logDir = logDirectoryOf(options.logDir, options.configDir);
        return await runInBackground({ logDir, interface: options.interface });
      }
      const launcher = await loadLauncher();
      outliveOutput();
      // A connect to a bus that never answers is left behind by its client, and would keep the process for minutes.
      process.exit(exitCodeOfEnd(await launcher.runNode(nodeOptions(options, formatIn(command.opts())))));
    } catch (error) {
      const told = isWithoutConfiguration(error)
        ? noConfiguration(nodeDirectory(options.configDir))
        : asCliError(error);
      if (options.daemonChild) await notifyParent(told);
      throw told;
    }
  });
}

/** @throws CliError where its service manager would not know of a daemon: it would start another beside it */
async function requireNoService(directory: string): Promise<void> {
  // Not for the node itself, which would hold it for as long as it runs.
  const { serviceStart } = await import('./start-hint.ts');
  const start = serviceStart(directory);
  if (start !== undefined)
    throw new CliError(`The node of ${directory} is a service. Start it: ${start}`, EXIT.conflict);
}

function isWithoutConfiguration(error: unknown): boolean {
  return error instanceof NodeRefusal && error.reason === 'not-configured';
}

function nodeOptions(options: UpOptions, format: Format): NodeOptions {
  const relay = options.relayUrl === undefined ? undefined : parseRelayAddress(options.relayUrl);
  const directory = nodeDirectory(options.configDir);
  const facts = () => ({ directory, server: readNodeConfig(directory)?.server });
  return {
    directory,
    interfaceName: options.interface,
    listenPort: options.wgPort,
    busWaitMs: options.busWait,
    busInClear: options.busInClear === true,
    level: options.level,
    systemLog: options.enableSysLog === true,
    dns: options.dns,
    writesResolvConf: options.writeResolvConf === true,
    ...(options.rotateKeyAfter !== undefined && { keyAgeMs: options.rotateKeyAfter }),
    ...(options.name !== undefined && { name: options.name }),
    ...(relay && { relayOverride: relay }),
    opensHost: options.openFirewall === true,
    ...(options.userspace !== undefined && { userspace: options.userspace }),
    proxy: { listen: options.proxy, isOpen: options.proxyOpen === true, isDirect: options.proxyDirect === true },
    ...(options.acceptRoutes && { acceptRoutes: options.acceptRoutes }),
    onStuck: () => process.exit(EXIT.unavailable),
    ...(options.daemonChild
      ? {
          logDirectory: logDirectoryOf(options.logDir, options.configDir),
          onStarted: (greeting) => notifyParent(stoppedError(greeting, facts()) ?? greeting),
        }
      : {
          onStarted: (greeting) => {
            const ended = stoppedError(greeting, facts());
            if (ended) throw ended;
            const { line: _, ...value } = greeting;
            return print({ value, text: greetingText(greeting, ' End it with Ctrl-C.').split('\n') }, format);
          },
        }),
  };
}
