import { hostname } from 'node:os';
import path from 'node:path';
import { type Command, Option } from 'commander';
import { type Answer, answering, notice } from './answer.ts';
import { confirm } from './confirm.ts';
import { CliError } from './exit.ts';
import { ignoreIn, workTreeWith } from './git-work-tree.ts';
import { openClientFile } from './mcp-client-file.ts';
import { storedIdentity, storeIdentity } from './mcp-clients.ts';
import { CLIENTS, type Client, entryOf, entryWithoutToken, groupOf, SIGNS_IN } from './mcp-entry.ts';
import { agentFor, endIdentity, type IdentityRequest, type IssuedIdentity, personalToken } from './mcp-identity.ts';
import { clientOfFile, installedClients, nextStep, ownFileOf } from './mcp-paths.ts';
import { bodyOf, parseJsonOr } from './operation-options.ts';
import { ownLauncher } from './own-command.ts';
import { noticePending } from './pending-approval.ts';
import { sessionAt, sessionFile, type TargetOptions, targetOf, writeSession } from './session.ts';
import { withTarget } from './target.ts';
import { existingOrFirstWorkspace } from './workspace.ts';

/** Long enough not to be renewed every week, short enough that a forgotten file is soon worth nothing. */
const DEFAULT_TTL = '30d';

interface ConfigOptions extends TargetOptions {
  readonly client?: Client;
  readonly output?: string;
  readonly gitignore?: boolean;
  readonly name?: string;
  readonly ttl: string;
  readonly scopes?: string;
  readonly reach?: string;
  readonly personal?: boolean;
  readonly withToken?: boolean;
}

/** `mesh mcp config`: puts this control plane into a client's configuration, with an agent of its own. */
export function addMcpConfigCommand(mcp: Command): void {
  answering(
    withTarget(
      mcp.command('config').description("put this control plane into an MCP client's configuration, as an agent"),
    )
      .addOption(
        new Option('--client <name>', 'whose form to write (the one found here, else generic)').choices(CLIENTS),
      )
      .option('--output <file>', 'the configuration to merge into (the file that the client reads)')
      .option('--gitignore', 'in a Git work tree, add the file to .gitignore without asking')
      .option('--name <name>', 'name of the agent (default: of the client and this machine); one of yours is renewed')
      .option('--ttl <duration>', 'life of its token, at most 90d', DEFAULT_TTL)
      .option('--scopes <a,b,...>', 'what it may do; read, plan and apply when left out')
      .option('--reach <json|@file>', 'what it may open by itself, as rules; nothing when left out')
      .option('--with-token', 'write a token, also for a client that signs in by itself')
      .option('--personal', 'a token of your own in place of an agent: the audit log then names you'),
    writeConfig,
  );
}

async function writeConfig(options: ConfigOptions): Promise<Answer> {
  const client = clientOf(options);
  const target = targetOf(options);
  const opened = openClientFile(options.output ?? ownFileOf(client) ?? besideSession(), groupOf(client));
  const before = storedIdentity(opened.file);
  if (!before && signsIn(client, options)) {
    const backup = opened.write(entryWithoutToken(target.server));
    const next = nextStep(client, opened.file);
    const value = { file: opened.file, backup: backup ?? null, server: target.server, next };
    return { value, text: [wroteText(opened.file, backup), SIGNS_IN_TEXT, next] };
  }
  await keepOutOfGit(opened.file, options);
  const workspace = target.workspace ?? (await existingOrFirstWorkspace(target));
  const session = sessionAt(target.server);
  // The commands that follow then need no --workspace.
  if (session && session.workspace === undefined) writeSession({ ...session, workspace });
  const there = { ...target, workspace };
  const own = before?.server === target.server && before.workspace === workspace ? before : undefined;
  const issued = options.personal
    ? await personalToken(there, await wantedOf(options, client))
    : await agentOrHint(there, await wantedOf(options, client), own);
  if ('waiting' in issued) {
    noticePending(issued.waiting);
    return { value: issued.waiting, hints: ['Nothing was written: give the same command again once it is approved.'] };
  }
  const backup = opened.write(
    entryOf(client, { server: target.server, token: issued.token, workspace, launcher: ownLauncher() }),
  );
  const { token: _, isRenewed, ...identity } = issued;
  const ended = storeIdentity(opened.file, {
    server: target.server,
    workspace,
    kind: issued.kind,
    id: issued.id,
    name: issued.name,
  });
  if (isRenewed && own?.id !== issued.id) notice(otherFilesText(issued.name, ended));
  if (before) await endIdentity(there, before, issued);
  const next = nextStep(client, opened.file);
  const value = { file: opened.file, backup: backup ?? null, server: target.server, workspace, identity, next };
  return { value, text: [...linesOf(opened.file, backup, workspace, issued), next] };
}

/**
 * Returns true where the client gets the address alone: it signs in by itself, and a person at a terminal, who can allow it, asked
 * for nothing that a token has.
 */
function signsIn(client: Client, { withToken, personal, name, scopes, reach }: ConfigOptions): boolean {
  const wantsToken = withToken || personal || [name, scopes, reach].some((given) => given !== undefined);
  return SIGNS_IN.has(client) && !wantsToken && process.stdin.isTTY === true;
}

const SIGNS_IN_TEXT =
  'The client signs in by itself: a page of the dashboard asks what it may do. For a token in the file: mesh mcp config --with-token';

/** Returns the client that is named, that reads the file that is named, or that is the only one found on this machine. */
function clientOf({ client, output }: ConfigOptions): Client {
  if (client !== undefined) return client;
  if (output !== undefined) return clientOfFile(output) ?? 'generic';
  const [only, ...others] = installedClients();
  return only !== undefined && others.length === 0 ? only : 'generic';
}

const besideSession = () => path.join(path.dirname(sessionFile()), 'mcp.json');

/** Warns of a token that could be committed, and keeps its file out of commits where a person agrees. */
async function keepOutOfGit(file: string, { gitignore = false }: ConfigOptions): Promise<void> {
  const found = workTreeWith(file);
  if (!found) return;
  const { root, entries, isTracked } = found;
  notice([
    `warning: ${file} will hold a token, and is in the Git work tree ${root}: who reads the repository could use the token once it is committed.`,
    ...(isTracked
      ? [`Git keeps versions of this file already: git rm --cached ${path.relative(root, file)} ends that.`]
      : []),
  ]);
  const isWanted = gitignore || (process.stdin.isTTY && (await confirm(`Add ${entries[0]} to .gitignore?`)));
  if (isWanted) notice(`Added ${entries.join(' and ')} to ${ignoreIn(found)}.`);
  else notice('Give --gitignore to add it to .gitignore.');
}

function otherFilesText(name: string, files: readonly string[]): string {
  const where = files.length === 0 ? 'in any other file' : `in ${files.join(' and ')}`;
  return `The agent ${name} was renewed: its token ${where} is worth nothing now. For a client that used it: mesh mcp config with its --client and --output, and another --name.`;
}

async function agentOrHint(
  target: Parameters<typeof agentFor>[0],
  wanted: IdentityRequest,
  own: ReturnType<typeof storedIdentity>,
) {
  try {
    return await agentFor(target, wanted, own);
  } catch (error) {
    if (!(error instanceof CliError) || error.code !== 'forbidden') throw error;
    const hint = 'For a token of your own, in your name: mesh mcp config --personal';
    throw new CliError(`${error.message} ${hint}`, error.exitCode, error.problem);
  }
}

async function wantedOf({ name, ttl, scopes, reach }: ConfigOptions, client: Client): Promise<IdentityRequest> {
  const reachText = await bodyOf(reach);
  const host = hostname().replaceAll(/[^A-Za-z0-9._-]/g, '-');
  return {
    name,
    derivedName: `${client === 'generic' ? 'mcp' : client}-${host}`.slice(0, MAX_DERIVED_NAME),
    scopes: scopes?.split(',').map((scope) => scope.trim()),
    reach: reachText === undefined ? undefined : parseJsonOr(reachText, reachText),
    ttl,
  };
}

function wroteText(file: string, backup: string | undefined): string {
  return `Wrote ${file} (0600)${backup === undefined ? '' : `; as it was before: ${backup}`}.`;
}

/** A name has 63 characters at most; two are left for a number. */
const MAX_DERIVED_NAME = 61;

function linesOf(
  file: string,
  backup: string | undefined,
  workspace: string,
  { kind, name, scopes, expiresAt }: IssuedIdentity,
): readonly string[] {
  const who = kind === 'agent' ? `the agent ${name}` : `you, with the API token ${name}`;
  return [
    wroteText(file, backup),
    `The client acts in workspace ${workspace} as ${who} until ${expiresAt}: ${scopes.join(', ')}.`,
  ];
}
