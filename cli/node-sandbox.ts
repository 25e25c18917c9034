import { hostname } from 'node:os';
import { type Command, type CommanderError, Option } from 'commander';
import { NODE_LOG_LEVELS, type NodeLogLevel } from '../client/agent/node-log.ts';
import type { Enrolled } from '../client/enrol/enrol.ts';
import type { Invitation } from '../client/enrol/join-link.ts';
import { type Destination, MAX_DESTINATIONS, parseDestination } from '../client/sandbox/destination.ts';
import { bytesIn } from '../client/sandbox/limits.ts';
import { parseRelayAddress } from '../net/relay/address.ts';
import { answering, formatIn, notice, print } from './answer.ts';
import { outliveOutput } from './closed-output.ts';
import type { CommandContext } from './command-context.ts';
import { CliError, EXIT } from './exit.ts';
import { localServer, ownPlane } from './node-directory.ts';
import { asCliError, exitCodeOfEnd } from './node-errors.ts';
import { HINTS } from './node-hints.ts';
import { busWaitOption, relayOf } from './node-options.ts';
import { runnable } from './own-command.ts';
import { delegation, parseReach } from './sandbox-delegate.ts';
import { readToken, serverOf, targetOf, warnPlainHttp } from './session.ts';
import { serverForToken } from './token-server.ts';
import { variable } from './variable.ts';
import { visibleLine } from './visible.ts';

interface StartOptions {
  readonly token?: string;
  readonly server?: string;
  readonly name?: string;
  readonly relayUrl?: string;
  readonly busWait: number;
  readonly busInClear?: boolean;
  readonly env: readonly string[];
  readonly workdir?: string;
  readonly bind: readonly string[];
  readonly memory?: number;
  readonly pids?: number;
  readonly allowNoIsolation?: boolean;
  readonly egress: readonly Destination[];
  readonly delegate?: string;
  readonly ttl?: string;
  readonly preset: string;
  readonly scope?: readonly string[];
  readonly reach: readonly ReturnType<typeof parseReach>[];
  readonly workspace?: string;
  readonly level: NodeLogLevel;
}

/** `mesh sandbox start`: a sub-agent's command, with nothing but the overlay to talk to. */
export function defineSandbox(sandbox: Command, { loadLauncher }: CommandContext): void {
  const start = sandbox
    .command('start')
    .description('enrol with a delegate token and run a command in a network and file system of its own')
    .argument('[command...]', 'after --; without it the sandbox stays until its time is over')
    .option('--token <token>', 'delegate token; with --delegate the token of the caller; or @file (MESH_TOKEN)')
    .option(
      '--server <url>',
      'address of the control plane (MESH_SERVER; that of this machine, or the one in the token)',
    )
    .option('--delegate <name>', 'make the sub-agent too, as the caller: an agent, or whoever is signed in')
    .option('--ttl <duration>', 'with --delegate: time of the sub-agent, such as 30m')
    .option('--preset <preset>', 'with --delegate: isolated, sandboxed, coordinator or inherit', 'sandboxed')
    .option(
      '--scope <scope>',
      'with --delegate: a scope of the sub-agent; more than once for several (network:read)',
      append,
    )
    .option(
      '--reach <peer:port>',
      'with --delegate: a peer (db:5432) or label (role=db:5432) that it may reach; more than once for several',
      (text: string, all: readonly ReturnType<typeof parseReach>[]) => [...all, parseReach(text)],
      [],
    )
    .option('--workspace <id>', 'with --delegate: workspace id or slug (MESH_WORKSPACE)')
    .option(
      '--egress <host:port>',
      'a destination on the internet that it may reach, by TLS (api.example.com:443) or plain HTTP (http://example.com:80); more than once for several',
      addDestination,
      [],
    )
    .option('--name <name>', 'name of the peer instead of that of the sub-agent')
    .option('--relay-url <host:port>', 'relay in place of the advertised one', relayOf)
    .addOption(busWaitOption())
    .option(
      '--bus-in-clear',
      'sign in to a bus elsewhere without TLS too: who listens on the way learns the credential',
    )
    .option(
      '--env <name>',
      'pass this variable of the environment too; more than once for several (PATH, LANG, LC_* and TERM alone)',
      (name: string, names: string[]) => [...names, variableIn(name)],
      [],
    )
    .option('--workdir <directory>', 'directory that the command starts in and may write to; no home, and not /')
    .option(
      '--bind <path>',
      'file or directory that the command may read, beside the present directory; more than once for several',
      append,
      [],
    )
    .option('--memory <bytes>', 'memory of its processes together, such as 512m; needs control groups', memoryIn)
    .option('--pids <number>', 'processes and threads that it may have; needs control groups', pidsIn)
    .option('--allow-no-isolation', 'where this host forbids namespaces: run it with nothing but proxy variables')
    .addOption(new Option('--level <level>', 'what is logged').choices(NODE_LOG_LEVELS).default('warn'));
  start.exitOverride((error) => {
    throw withoutSeparator(error) ?? error;
  });
  answering(start, async (command: string[], options: StartOptions): Promise<undefined> => {
    const launcher = await loadLauncher();
    const { server, token, end: endDelegation } = sourceOf(options);
    warnPlainHttp(server);
    const format = formatIn(start.opts());
    const relay = options.relayUrl === undefined ? undefined : parseRelayAddress(options.relayUrl);
    outliveOutput();
    let name = options.delegate ?? options.name ?? 'the sandbox';
    const end = await launcher
      .runSandbox({
        server,
        token,
        egress: options.egress,
        ...(options.name !== undefined && { name: options.name }),
        hostname: hostname(),
        busWaitMs: options.busWait,
        busInClear: options.busInClear === true,
        level: options.level,
        command,
        env: options.env,
        binds: options.bind,
        ...(options.workdir !== undefined && { workdir: options.workdir }),
        limits: {
          ...(options.memory !== undefined && { memory: options.memory }),
          ...(options.pids !== undefined && { pids: options.pids }),
        },
        allowsNoIsolation: options.allowNoIsolation === true,
        onIsolated: (isolation) =>
          notice(format === 'json' ? JSON.stringify({ isolation }) : `Isolation: ${isolation}.`),
        onEnrolled: (enrolled) => {
          name = enrolled.config.name;
          printEnrolled(enrolled);
        },
        onStuck: () => process.exit(EXIT.unavailable),
        // With a command, standard output is the command's.
        ...(command.length === 0 && {
          onStarted: ({ line, ...value }) => print({ value, text: `${runnable(line)} End it with Ctrl-C.` }, format),
        }),
        ...(relay && { relayOverride: relay }),
      })
      .catch((error: unknown) => {
        throw asCliError(error);
      })
      .finally(endDelegation);
    if (end.why === 'expired')
      throw new CliError(`The time of ${name} is over.`, exitCodeOfEnd(end), { code: 'expired' });
    process.exitCode = exitCodeOfEnd(end);
  });
}

/** Returns the error for an option that is none of this command, and so one of the command that it should run. */
function withoutSeparator({ code, message }: CommanderError): CliError | undefined {
  const [, option] = /^error: unknown option '([^']+)'$/.exec(message) ?? [];
  if (code !== 'commander.unknownOption' || option === undefined) return undefined;
  return new CliError(
    `unknown option '${visibleLine(option)}'. Where it is for the command to run, put -- before that command, as in: -- sh -c true`,
    EXIT.input,
  );
}

function append(value: string, all: readonly string[] = []): readonly string[] {
  return [...all, value];
}

/** @throws CliError */
function memoryIn(text: string): number {
  const bytes = bytesIn(text);
  if (bytes === undefined)
    throw new CliError('Give --memory an amount of at least 1m, such as 512m or 2g.', EXIT.input);
  return bytes;
}

/** @throws CliError */
function pidsIn(text: string): number {
  if (!/^[1-9]\d{0,6}$/.test(text)) throw new CliError('Give --pids a number, such as 100.', EXIT.input);
  return Number(text);
}

/** @throws CliError */
function addDestination(text: string, all: readonly Destination[]): readonly Destination[] {
  const destination = parseDestination(text);
  if (typeof destination === 'string') throw new CliError(destination, EXIT.input);
  if (all.length >= MAX_DESTINATIONS)
    throw new CliError(`Name at most ${MAX_DESTINATIONS} destinations with --egress.`, EXIT.input);
  return [...all, destination];
}

/** Where the sandbox is enrolled, and by which token. */
function sourceOf(options: StartOptions) {
  const { delegate, ttl, preset, scope = ['network:read'], reach } = options;
  if (delegate === undefined) {
    if (ttl !== undefined || options.scope || options.workspace !== undefined || reach.length > 0) {
      throw new CliError(
        '--ttl, --scope, --reach and --workspace are for --delegate: a token has them already.',
        EXIT.input,
      );
    }
    const { server, token } = invitationOf(options);
    return { server, token: async () => token, end: async () => {} };
  }
  if (ttl === undefined) throw new CliError('Give --delegate a --ttl, such as 30m.', EXIT.input);
  const target = targetOf(options);
  return { server: target.server, ...delegation(target, { name: delegate, ttl, preset, scopes: scope, reach }) };
}

/** @throws CliError */
function variableIn(name: string): string {
  if (!/^[A-Za-z_]\w*$/.test(name)) {
    throw new CliError('Give --env the name of a variable alone: its value is that of your environment.', EXIT.input);
  }
  if (process.env[name] === undefined) {
    throw new CliError(`${name}, which --env names, is not set: export it, or leave it out.`, EXIT.input);
  }
  return name;
}

/** @throws CliError that names what is missing */
function invitationOf(options: StartOptions): Invitation {
  const token = readToken(options.token);
  if (token?.startsWith('mesh-join-')) {
    throw new CliError(
      'This is a join token, for a device: a sandbox needs a delegate token, which an agent makes for its sub-agent (mesh-dlg-…).',
      EXIT.input,
    );
  }
  const named = options.server ?? variable('MESH_SERVER');
  const server = (token && serverForToken(token, named, ownPlane())) ?? serverOf(named) ?? localServer();
  if (token && server) return { server, token };
  const missing = [
    ...(token ? [] : ['--token with a delegate token (or MESH_TOKEN)']),
    ...(server
      ? []
      : [
          '--server with the address of the control plane, which neither the token nor a node or login of this machine names',
        ]),
  ];
  throw new CliError(`Give ${missing.join(', and ')}.`, EXIT.input);
}

function printEnrolled({ config: { id, name, server }, phase }: Enrolled): void {
  if (phase === 'pending')
    notice(`${name} waits for approval, and goes on by itself then: ${HINTS.approve({ id, server })}`);
}
