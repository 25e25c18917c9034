import { nodeDirectory } from './node-directory.ts';
import { quoted, runnable } from './own-command.ts';

/** The target of a command that is shown to a person. */
export interface HintFacts {
  /** The directory of the configuration; by default that of this user. */
  readonly directory?: string | undefined;
  readonly server?: string | undefined;
  readonly interfaceName?: string | undefined;
  readonly id?: string;
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
  up: ({ directory, acceptable }) => `${sudo()}mesh up --daemon${at(directory)}${accepting(acceptable)}`,
  startService: ({ interfaceName }) => `${sudo()}mesh service start${on(interfaceName)}`,
  down: ({ directory }) => `${sudo()}mesh down${at(directory)}`,
  status: ({ directory }) => `${sudo()}mesh status${at(directory)}`,
  openFirewall: ({ directory }) => `${sudo()}mesh up --open-firewall${at(directory)}`,
  openFromStart: ({ directory }) => `${sudo()}mesh service install${at(directory)} -- --open-firewall`,
  leave: ({ directory, interfaceName }) => `${sudo()}mesh leave${on(interfaceName)}${at(directory)}`,
  installService: ({ interfaceName }) => `${sudo()}mesh service install${on(interfaceName)}`,
  printService: ({ interfaceName }) => `mesh service install --print${on(interfaceName)}`,
  logs: ({ interfaceName }) => `${sudo()}mesh logs${on(interfaceName)}`,
  login: ({ server }) => `mesh login${of(server)}`,
  approve: ({ id = '', server }) => `mesh approve ${quoted(id)}${of(server)}`,
  createNetwork: ({ server }) =>
    `mesh admin create-network --name apart --spec ${quoted('{"cidr":"10.200.0.0/24"}')}${of(server)}`,
  moveToNetwork: ({ server }) => `mesh admin update-peer NAME --network apart${of(server)}`,
  listPeers: ({ server }) => `mesh admin list-peers${of(server)}`,
} satisfies Record<string, (facts: HintFacts) => string>;

/** Says by which commands an administrator gives peers another block. */
export function renumberText(facts: Pick<HintFacts, 'server'> = {}): string {
  return `To renumber: ${runnable(HINTS.createNetwork(facts))} and, for each peer: ${runnable(HINTS.moveToNetwork(facts))}`;
}

function init({ directory, server }: HintFacts, how = ''): string {
  if (server === undefined) return 'mesh init --help';
  return `${sudo()}mesh init${at(directory)}${how} --server ${quoted(server)} --token @join-token`;
}

/** Empty for who has all rights already: a machine may have no sudo. */
function sudo(): string {
  return process.getuid?.() === 0 ? '' : 'sudo ';
}

/** Behind sudo the home directory is another one. */
function at(directory: string | undefined): string {
  const named = directory ?? nodeDirectory(undefined);
  const isFound = process.getuid?.() === 0 && named === nodeDirectory(undefined);
  return isFound ? '' : ` --config-dir ${quoted(named)}`;
}

function accepting(block: string | undefined): string {
  return block === undefined ? '' : ` --accept-routes ${quoted(block)}`;
}

function on(interfaceName: string | undefined): string {
  return interfaceName === undefined ? '' : ` --interface ${quoted(interfaceName)}`;
}

function of(server: string | undefined): string {
  return server === undefined ? '' : ` --server ${quoted(server)}`;
}
