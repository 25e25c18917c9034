import { hostname } from 'node:os';
import { type Command, Option } from 'commander';
import { parseRelayAddress } from '../../net/relay/address.ts';
import { beginAgainCompiled } from '../compiled.ts';
import { NODE_LOG_LEVELS, type NodeLogLevel } from '../node-log.ts';
import { runSandbox } from '../sandbox.ts';
import { CliError, EXIT } from './exit.ts';
import { asCliError } from './node-errors.ts';
import { durationOf, relayOf } from './node-options.ts';
import { requireRoot } from './root.ts';
import { DEFAULT_SERVER, readSession, readToken, warnPlainHttp } from './session.ts';

interface StartOptions {
  readonly token?: string;
  readonly server?: string;
  readonly name?: string;
  readonly relayUrl?: string;
  readonly busWait: number;
  readonly busInClear?: boolean;
  readonly level: NodeLogLevel;
}

/** `mesh sandbox start`: a sub-agent's command, with nothing but the overlay to talk to. */
export function addSandboxCommand(program: Command): void {
  program
    .command('sandbox')
    .description('run sub-agents with nothing but the overlay to talk to')
    .command('start')
    .description('enrol with a delegate token and run a command in a network of its own; needs superuser rights')
    .argument('[command...]', 'after --; without it the sandbox stays until its time is over')
    .option('--token <token>', 'delegate token, or @file (MESH_TOKEN)')
    .option('--server <url>', 'address of the control plane (MESH_SERVER)')
    .option('--name <name>', 'name of the peer')
    .option('--relay-url <host:port>', 'relay in place of the advertised one', relayOf)
    .option('--bus-wait <duration>', 'how long a connect to the bus may take', durationOf, 2_000)
    .option(
      '--bus-in-clear',
      'sign in to a bus elsewhere without TLS too: who listens on the way learns the credential',
    )
    .addOption(new Option('--level <level>', 'what is logged').choices(NODE_LOG_LEVELS).default('warn'))
    .action(async (command: string[], options: StartOptions) => {
      requireRoot('mesh sandbox start');
      beginAgainCompiled();
      const token = readToken(options.token);
      if (!token) throw new CliError('Give --token with a delegate token, or set MESH_TOKEN.', EXIT.input);
      const server = options.server ?? process.env['MESH_SERVER'] ?? readSession()?.server ?? DEFAULT_SERVER;
      warnPlainHttp(server);
      const relay = options.relayUrl === undefined ? undefined : parseRelayAddress(options.relayUrl);
      process.exitCode = await runSandbox({
        server,
        token,
        name: options.name ?? `sandbox-${process.pid.toString(36)}${Date.now().toString(36)}`,
        hostname: hostname(),
        busWaitMs: options.busWait,
        busInClear: options.busInClear === true,
        level: options.level,
        command,
        ...(relay && { relayOverride: relay }),
      }).catch((error: unknown) => {
        throw asCliError(error);
      });
    });
}
