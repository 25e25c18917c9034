import { hostname } from 'node:os';
import { type Command, Option } from 'commander';
import { NODE_LOG_LEVELS, type NodeLogLevel } from '../client/agent/node-log.ts';
import type { Enrolled } from '../client/enrol/enrol.ts';
import type { Invitation } from '../client/enrol/join-link.ts';
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
import { requireRoot } from './root.ts';
import { readToken, serverOf, warnPlainHttp } from './session.ts';
import { serverForToken } from './token-server.ts';
import { variable } from './variable.ts';

interface StartOptions {
  readonly token?: string;
  readonly server?: string;
  readonly name?: string;
  readonly relayUrl?: string;
  readonly busWait: number;
  readonly busInClear?: boolean;
  readonly env: readonly string[];
  readonly level: NodeLogLevel;
}

/** `mesh sandbox start`: a sub-agent's command, with nothing but the overlay to talk to. */
export function defineSandbox(sandbox: Command, { loadLauncher }: CommandContext): void {
  const start = sandbox
    .command('start')
    .description('enrol with a delegate token and run a command in a network of its own; needs superuser rights')
    .argument('[command...]', 'after --; without it the sandbox stays until its time is over')
    .option('--token <token>', 'delegate token, or @file (MESH_TOKEN)')
    .option(
      '--server <url>',
      'address of the control plane (MESH_SERVER; that of this machine, or the one in the token)',
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
    .addOption(new Option('--level <level>', 'what is logged').choices(NODE_LOG_LEVELS).default('warn'));
  answering(start, async (command: string[], options: StartOptions): Promise<undefined> => {
    requireRoot('mesh sandbox start');
    const launcher = await loadLauncher();
    const invitation = invitationOf(options);
    warnPlainHttp(invitation.server);
    const format = formatIn(start.opts());
    const relay = options.relayUrl === undefined ? undefined : parseRelayAddress(options.relayUrl);
    outliveOutput();
    const end = await launcher
      .runSandbox({
        ...invitation,
        ...(options.name !== undefined && { name: options.name }),
        hostname: hostname(),
        busWaitMs: options.busWait,
        busInClear: options.busInClear === true,
        level: options.level,
        command,
        env: options.env,
        onEnrolled: printEnrolled,
        onStuck: () => process.exit(EXIT.unavailable),
        // With a command, standard output is the command's.
        ...(command.length === 0 && {
          onStarted: ({ line, ...value }) => print({ value, text: `${runnable(line)} End it with Ctrl-C.` }, format),
        }),
        ...(relay && { relayOverride: relay }),
      })
      .catch((error: unknown) => {
        throw asCliError(error);
      });
    process.exitCode = exitCodeOfEnd(end);
  });
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
