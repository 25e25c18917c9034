import { hostname } from 'node:os';
import { type Command, Option } from 'commander';
import { type Enrolled, enrol } from '../client/enrol/enrol.ts';
import { type Invitation, isJoinLink, parseJoinLink } from '../client/enrol/join-link.ts';
import { localPlatform, nodeName } from '../client/enrol/local-device.ts';
import { nodeConfigFile } from '../client/enrol/node-config.ts';
import { WORKLOAD_PLACES, type WorkloadPlace, workloadToken } from '../client/enrol/workload-token.ts';
import { isNeverServed } from '../client/names/zone.ts';
import { judgeRoute, refusalText } from '../client/routes/judge-route.ts';
import { usedAddresses } from '../client/routes/used-addresses.ts';
import { normalizeName } from '../core/model/resources.ts';
import { withoutAddress } from '../core/model/token.ts';
import { type Answer, answering } from './answer.ts';
import type { CommandContext } from './command-context.ts';
import { CliError, EXIT } from './exit.ts';
import { nodeDirectory, ownPlane } from './node-directory.ts';
import { asCliError } from './node-errors.ts';
import { HINTS } from './node-hints.ts';
import { acceptRoutesOption } from './node-options.ts';
import { labelsOf } from './operation-options.ts';
import { parseServer, readToken, warnPlainHttp } from './session.ts';
import { startHint } from './start-hint.ts';
import { serverForToken } from './token-server.ts';
import { variable } from './variable.ts';
import { visibleLine } from './visible.ts';

interface InitOptions {
  readonly server?: string;
  readonly token?: string;
  readonly configDir?: string;
  readonly name?: string;
  readonly force?: boolean;
  readonly labels?: string;
  readonly ephemeral?: boolean;
  readonly identity?: WorkloadPlace;
  readonly identityFile?: string;
  readonly acceptRoutes?: readonly string[];
}

/** `mesh init`: makes the key of this node and registers it. */
export function defineInit(init: Command, { version }: Pick<CommandContext, 'version'>): void {
  answering(
    init
      .argument('[link]', 'join link mesh://join?server=…&token=… instead of --server and --token')
      .option('--server <url>', 'address of the control plane (MESH_SERVER; the one in the token)')
      .option('--token <token>', 'join token, or @file (MESH_TOKEN)')
      .option('--config-dir <dir>', 'where the configuration is written; up needs the same (~/.mesh)')
      .option('--name <name>', 'name of this node instead of the host name, or the next free one like it')
      .option('--labels <key=value,...>', 'labels to ask for; the token has to grant them')
      .option('--ephemeral', 'have the control plane delete this node once it has been offline for 10 minutes')
      .addOption(
        new Option(
          '--identity <place>',
          'prove what this workload is by an OIDC token of the place where it runs',
        ).choices(WORKLOAD_PLACES),
      )
      .option('--identity-file <file>', 'file that holds such a token, in place of where it usually is')
      .addOption(acceptRoutesOption())
      .option('--force', 'forget the node that the directory holds'),
    async (link: string | undefined, options: InitOptions): Promise<Answer> => {
      const directory = nodeDirectory(options.configDir);
      const invitation = invitationOf(link, options);
      warnPlainHttp(invitation.server);
      const identity = await identityOf(options, invitation.server);
      const given = options.name === AUTO ? undefined : options.name;
      const suggested = await nodeName();
      const platform = localPlatform();
      const enrolled = await enrol({
        ...invitation,
        directory,
        name: given ?? suggested,
        takesSuggestion: given === undefined,
        hostname: hostname(),
        platform,
        version,
        ...(options.labels !== undefined && { labels: labelsOf(options.labels, '--labels') }),
        ephemeral: options.ephemeral === true,
        ...(identity !== undefined && { identity }),
        force: options.force === true,
        ...(options.acceptRoutes && { acceptRoutes: options.acceptRoutes }),
      }).catch((error: unknown) => {
        throw asCliError(error);
      });
      const host = given === undefined && enrolled.config.name === normalizeName(suggested) ? hostname() : undefined;
      return answerOf(enrolled, directory, await routeOf(enrolled), host);
    },
  );
}

/** @throws CliError where the workload has no token there */
async function identityOf({ identity, identityFile }: InitOptions, server: string): Promise<string | undefined> {
  const place = identity ?? (identityFile === undefined ? undefined : 'oidc');
  if (place === undefined) return undefined;
  return workloadToken(place, { server, file: identityFile }).catch((error: unknown) => {
    throw asCliError(error);
  });
}

/** As if no name were given, which releases before took for the host name alone. */
const AUTO = 'auto';

/** Tells what the node will do with the block of its network. */
async function routeOf({
  config,
  block,
}: Enrolled): Promise<{ readonly lines: readonly string[]; readonly acceptable?: string }> {
  const { server, signalingUrl, acceptRoutes: accepted = [], carriedBlock: carried } = config;
  const plane = `Control plane: ${server}, bus ${signalingUrl}`;
  if (block === undefined) return { lines: [plane] };
  const used = await usedAddresses({ server, signalingUrl }, { relay: null, stun: [] });
  const verdict = judgeRoute(block, { accepted, carried, used, translated: [], collisions: [], isAlone: false });
  if (!('refusal' in verdict))
    return { lines: [plane, `Block: ${block}, routed into the tunnel while the node is up`] };
  const { refusal } = verdict;
  return {
    lines: [plane, `Block: ${refusalText(refusal)}`],
    ...(refusal.code === 'not-accepted' && { acceptable: block }),
  };
}

function answerOf(
  { config, phase, address, takenName, block }: Enrolled,
  directory: string,
  { lines: route, acceptable }: Awaited<ReturnType<typeof routeOf>>,
  host: string | undefined,
): Answer {
  const { id, name, server } = config;
  const file = nodeConfigFile(directory);
  const trusted = acceptable === undefined ? '' : ', if you trust the network with this block';
  const next = `Next${trusted}: ${startHint(directory, acceptable)}`;
  const taken = [
    ...(takenName === undefined ? [] : [`Another device is named ${takenName}: this one is ${name}.`]),
    ...(host === undefined || host === name
      ? []
      : [`The name of this host is ${visibleLine(host)}: the node is ${name}.`]),
    ...(isNeverServed(name)
      ? [
          `warning: peers find nobody by the name ${name}, which programs trust by themselves: give this node another one with --name.`,
        ]
      : []),
  ];
  const value = { id, name, phase, address, block: block ?? null, server, configuration: file };
  if (phase === 'ready') {
    return {
      value,
      text: [...taken, `Registered ${name} as ${address}.`, ...route, `Configuration: ${file}`],
      hints: [next],
    };
  }
  return {
    value,
    text: [...taken, `Registered ${name}.`, ...route, `Configuration: ${file}`],
    hints: [
      `It is pending: an administrator has to approve it, on the dashboard or by: ${HINTS.approve({ id, server })}`,
      'It connects as soon as it is approved.',
      next,
    ],
  };
}

/** @throws CliError that never repeats what was given: it may hold a token */
function invitationOf(link: string | undefined, options: InitOptions): Invitation {
  if (link !== undefined) {
    if (/^mesh-(join|dlg)-/.test(link)) {
      throw new CliError('The argument is a token, and no join link: give the token with --token.', EXIT.input);
    }
    if (!isJoinLink(link))
      throw new CliError('The argument is no join link. A join link begins with mesh://join?', EXIT.input);
    return requireSame(parsed(link), options);
  }
  const named = options.server ?? variable('MESH_SERVER');
  const token = readToken(options.token);
  const own = ownPlane(nodeDirectory(options.configDir));
  const server = token === undefined ? named : serverForToken(token, named, own);
  if (!server)
    throw new CliError('Which control plane? Give --server http(s)://host:18090, or a join link.', EXIT.input);
  if (!token) throw new CliError('By what right? Give --token with a join token, or set MESH_TOKEN.', EXIT.input);
  return { server, token };
}

function parsed(link: string): Invitation {
  try {
    return parseJoinLink(link);
  } catch (error) {
    throw asCliError(error);
  }
}

/** @throws CliError where an option names another control plane or token than the link */
function requireSame(invitation: Invitation, { server, token: given }: InitOptions): Invitation {
  const token = given === undefined ? undefined : readToken(given);
  const isSameServer = server === undefined || parseServer(server).origin === URL.parse(invitation.server)?.origin;
  const isSameToken = token === undefined || withoutAddress(token) === withoutAddress(invitation.token);
  if (isSameServer && isSameToken) return invitation;
  throw new CliError(
    `The join link and ${isSameServer ? '--token' : '--server'} differ, and nothing was sent: give one of them alone.`,
    EXIT.input,
  );
}
