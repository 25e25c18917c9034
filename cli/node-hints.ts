import { isUserspaceNode, nodeDirectory } from './node-directory.ts';
import { quoted, runnable } from './own-command.ts';

/** The target of a command that is shown to a person. */
export interface HintFacts {
  /** The directory of the configuration; by default that of this user. */
  readonly directory?: string | undefined;
  readonly server?: string | undefined;
  readonly interfaceName?: string | undefined;
  /** The service is one of this user alone. */
  readonly isUsers?: boolean | undefined;
  readonly id?: string;
  /** The options of `up` that followed `--`. */
  readonly upOptions?: readonly string[];
  /** Block that the node does not route unless its person accepts it. */
  readonly acceptable?: string | undefined;
}

/**
 * Each command line that a command of the node shows, as it can be run: the directory of the node is named where another user
 * would look elsewhere, and rights are asked for where there are none. A test runs each through the parser of `mesh`, and finds
 * one that stands elsewhere. A join token is a secret that nobody prints: it is read from a file.
 */
export const HINTS = {
  join: (facts) => init(facts),
  joinAgain: (facts) => init(facts, ' --force'),
  up: ({ directory, acceptable }) => `${sudo(directory)}mesh up --daemon${at(directory)}${accepting(acceptable)}`,
  upInUserspace: ({ directory, acceptable }) => `mesh up --userspace --daemon${at(directory)}${accepting(acceptable)}`,
  startService: ({ interfaceName, isUsers }) =>
    `${isUsers ? '' : sudo()}mesh service start${user(isUsers)}${on(interfaceName)}`,
  down: ({ directory }) => `${sudo(directory)}mesh down${at(directory)}`,
  status: ({ directory }) => `${sudo(directory)}mesh status${at(directory)}`,
  openFirewall: ({ directory }) => `${sudo()}mesh up --open-firewall${at(directory)}`,
  openFromStart: ({ directory }) => `${sudo()}mesh service install${at(directory)} -- --open-firewall`,
  leave: ({ directory, interfaceName }) => `${sudo(directory)}mesh leave${on(interfaceName)}${at(directory)}`,
  installService: ({ interfaceName, isUsers }) =>
    `${isUsers ? '' : sudo()}mesh service install${user(isUsers)}${on(interfaceName)}`,
  printService: ({ directory, interfaceName, isUsers, upOptions = [] }) =>
    `mesh service install --print${user(isUsers)}${on(interfaceName)}${at(directory)}${behind(upOptions)}`,
  logs: ({ directory, interfaceName }) => `${sudo(directory)}mesh logs${on(interfaceName)}`,
  login: ({ server }) => `mesh login${of(server)}`,
  approve: ({ id = '', server }) => `mesh approve ${quoted(id)}${of(server)}`,
  renumber: ({ server }) => `mesh renumber default 10.200.0.0/24${of(server)}`,
  listPeers: ({ server }) => `mesh admin list-peers${of(server)}`,
} satisfies Record<string, (facts: HintFacts) => string>;

/** Says how a node that is no service is started: with an interface and, for a user without superuser rights, without one. */
export function upText(facts: Pick<HintFacts, 'directory' | 'acceptable'>): string {
  const command = HINTS.up(facts);
  return isSuperuser() || isUserspaceNode(nodeDirectory(facts.directory))
    ? command
    : `${command}, or ${userspaceText(facts)}`;
}

/** Says how a user without superuser rights starts a node. */
export function userspaceText(facts: Pick<HintFacts, 'directory' | 'acceptable'> = {}): string {
  return `without superuser rights, for programs that use its proxy: ${HINTS.upInUserspace(facts)}`;
}

/** Says by which command an administrator gives a network another block. */
export function renumberText(facts: Pick<HintFacts, 'server'> = {}): string {
  return `To renumber: ${runnable(HINTS.renumber(facts))}`;
}

function init({ directory, server }: HintFacts, how = ''): string {
  if (server === undefined) return 'mesh init --help';
  // The node is made by whoever keeps its files: with sudo they would be root's.
  return `mesh init${at(directory)}${how} --server ${quoted(server)} --token @join-token`;
}

/** Empty for who has all rights already, since a machine may have no sudo, and for a node that needs none. */
function sudo(directory?: string): string {
  return isSuperuser() || isUserspaceNode(nodeDirectory(directory)) ? '' : 'sudo ';
}

function isSuperuser(): boolean {
  return process.getuid?.() === 0;
}

function user(isUsers: boolean | undefined): string {
  return isUsers ? ' --user' : '';
}

/** Behind sudo the home directory is another one. */
function at(directory: string | undefined): string {
  const named = directory ?? nodeDirectory(undefined);
  const isFound = isSuperuser() && named === nodeDirectory(undefined);
  return isFound ? '' : ` --config-dir ${quoted(named)}`;
}

function accepting(block: string | undefined): string {
  return block === undefined ? '' : ` --accept-routes ${quoted(block)}`;
}

function behind(upOptions: readonly string[]): string {
  return upOptions.length === 0 ? '' : ` -- ${upOptions.map(quoted).join(' ')}`;
}

function on(interfaceName: string | undefined): string {
  return interfaceName === undefined ? '' : ` --interface ${quoted(interfaceName)}`;
}

function of(server: string | undefined): string {
  return server === undefined ? '' : ` --server ${quoted(server)}`;
}
