import { readdirSync, statSync, writeFileSync } from 'node:fs';
import { hostname, networkInterfaces, release } from 'node:os';
import path from 'node:path';
import type { Command } from 'commander';
import { askAgent, localSocketPath } from '../client/agent/local-socket.ts';
import { type NodeStatus, nodeStatusSchema } from '../client/agent/node-status.ts';
import { GraphFile } from '../client/control/graph-file.ts';
import { type NodeConfig, nodeConfigFile, readNodeConfig } from '../client/enrol/node-config.ts';
import { tableOf } from '../client/firewall/render.ts';
import { runProgram } from '../client/run-program.ts';
import type { FullGraph } from '../core/model/graph.ts';
import { type Answer, answering } from './answer.ts';
import { ownLines } from './bugreport/own-lines.ts';
import { redactedJson, redactor } from './bugreport/redact.ts';
import { secretsHere } from './bugreport/secrets.ts';
import type { CommandContext } from './command-context.ts';
import { CliError, EXIT } from './exit.ts';
import { nodeDirectory } from './node-directory.ts';
import { localInterface } from './node-interface.ts';
import { fileLines, journalLines, sourceOf } from './node-logs.ts';
import { interfaceOf } from './node-options.ts';
import { requireRoot } from './root.ts';
import { findService, localManager } from './service/local-manager.ts';
import { systemFailure } from './system-failure.ts';

interface ReportOptions {
  readonly configDir?: string;
  readonly interface: string;
  readonly logDir: string;
  readonly out?: string;
}

const LOG_LINES = 1_000;
const MOST_OF_A_SECTION = 262_144;
const PROGRAM_MS = 5_000;

/** `mesh bugreport`: one file for whoever helps. */
export function defineBugreport(report: Command, { version }: Pick<CommandContext, 'version'>): void {
  answering(
    report
      .option('--out <file>', 'where it is written; - for standard output (mesh-bugreport-<time>.txt)')
      .option('--config-dir <dir>', 'directory that mesh init wrote (~/.mesh)')
      .option('--interface <name>', 'interface of the node (the one it has, or had last)', interfaceOf)
      .option('--log-dir <dir>', 'where mesh up --daemon logs', '/var/log/mesh'),
    async (options: Omit<ReportOptions, 'interface'> & { interface?: string }): Promise<Answer> => {
      requireRoot('mesh bugreport');
      const interfaceName = options.interface ?? localInterface(nodeDirectory(options.configDir));
      const text = await collected({ ...options, interface: interfaceName }, version);
      if (options.out === '-') return { value: { text }, text: text.split('\n') };
      const stamp = new Date().toISOString().replaceAll(/[:.]/g, '-');
      const file = path.resolve(options.out ?? `mesh-bugreport-${stamp}.txt`);
      try {
        writeFileSync(file, text, { mode: 0o600, flag: 'wx' });
      } catch (error) {
        throw new CliError(
          `The report was not written: ${systemFailure(error) ?? (error as Error).message}`,
          EXIT.input,
        );
      }
      return {
        value: { file, bytes: Buffer.byteLength(text) },
        text: `Written: ${file}`,
        hints: [
          'Secrets are taken out as docs/node.md says; names and addresses are in it: read it before you send it.',
        ],
      };
    },
  );
}

/** The whole report: what has known fields by those alone, and text by what is seen to be harmless in it. */
export async function collected(options: ReportOptions, version: string): Promise<string> {
  const directory = nodeDirectory(options.configDir);
  const config = configOf(directory);
  const graph = typeof config === 'string' ? undefined : new GraphFile(directory, config.id).read();
  const status = await statusOf(directory);
  const safe = redactor(secretsHere(directory, process.env), publicValues(directory, config, graph, status));
  const fields = (value: unknown) => redactedJson(safe, value);
  const sections: [string, string][] = [
    [
      'mesh',
      `version ${version}, Node ${process.version}, ${process.platform} ${release()} ${process.arch}, ${new Date().toISOString()}`,
    ],
    ['configuration', typeof config === 'string' ? safe(config) : fields(configFields(config))],
    ['files', safe(filesText(directory))],
    ['status', typeof status === 'string' ? safe(status) : fields(status)],
    ['graph on disk', graph ? fields(graphFields(graph)) : 'none'],
    ['settings in the environment, without values', safe(settingsText())],
    [
      'service',
      await said(
        async () => fields(await (findService(directory)?.manager ?? localManager()).status(options.interface)),
        safe,
      ),
    ],
    ...(await programs(options.interface)).map(([title, text]): [string, string] => [title, safe(text)]),
    ['log', await said(async () => safe(ownLines(await logLines(options))), safe)],
  ];
  return sections.map(([title, text]) => `## ${title}\n${text.slice(-MOST_OF_A_SECTION).trim()}\n`).join('\n');
}

/** Returns the status of the agent; a sentence where it does not answer, or answers as another version does. */
async function statusOf(directory: string): Promise<NodeStatus | string> {
  try {
    const answer = nodeStatusSchema.safeParse(await askAgent(localSocketPath(directory), { ask: 'status' }));
    return answer.success ? answer.data : 'the agent answers with other fields than this version of mesh knows';
  } catch (error) {
    return `no answer: ${(error as Error).message}`;
  }
}

function configOf(directory: string): NodeConfig | string {
  try {
    return readNodeConfig(directory) ?? `${directory} holds no configuration of a node`;
  } catch (error) {
    return (error as Error).message;
  }
}

function configFields({ server, id, name, workspaceId, controlKey, signalingUrl, expiresAt }: NodeConfig) {
  return { server, id, name, workspaceId, controlKey, signalingUrl, expiresAt };
}

/** Returns the fields of a graph with the number of its peers and rules; the firewall table has the rules themselves. */
function graphFields({ epoch, version, reason, self, peers, firewall, relay, stun }: FullGraph) {
  const rules = { in: firewall.full.in.length, out: firewall.full.out.length };
  const place = relay && { url: relay.url, expiresAt: relay.expiresAt };
  return { epoch, version, reason, self, peers: peers.length, rules, relay: place, stun };
}

function filesText(directory: string): string {
  try {
    return readdirSync(directory)
      .map((name) => {
        const { mode, size, mtime } = statSync(path.join(directory, name));
        return `${(mode & 0o7777).toString(8)} ${size} ${mtime.toISOString()} ${name}`;
      })
      .join('\n');
  } catch (error) {
    return (error as Error).message;
  }
}

function settingsText(): string {
  const names = Object.keys(process.env).filter((name) => /^(MESH_|NODE_|WG_)/.test(name));
  return names.sort().join('\n') || 'none';
}

async function programs(interfaceName: string): Promise<[string, string][]> {
  const calls: readonly (readonly [string, ...string[]])[] =
    process.platform === 'darwin'
      ? [['ifconfig'], ['netstat', '-rn'], ['scutil', '--dns'], ['wg', 'show', interfaceName]]
      : [
          ['uname', '-a'],
          ['ip', '-br', 'address'],
          ['ip', 'route', 'show', 'table', 'all'],
          ['ip', 'rule'],
          ['wg', 'show', interfaceName],
          ['nft', 'list', 'table', 'inet', tableOf(interfaceName)],
          ['nft', 'list', 'tables'],
          ['resolvectl', 'status', interfaceName],
        ];
  return Promise.all(
    calls.map(async ([file, ...args]): Promise<[string, string]> => {
      const { stdout, stderr } = await runProgram(file, args, { timeoutMs: PROGRAM_MS });
      return [[file, ...args].join(' '), `${stdout}${stderr}`];
    }),
  );
}

async function logLines({ configDir, interface: name, logDir }: ReportOptions): Promise<string[]> {
  const { journal, file } = await sourceOf(nodeDirectory(configDir), name, logDir);
  return journal === undefined ? fileLines(file, LOG_LINES) : await journalLines(journal, LOG_LINES);
}

async function said(ask: () => Promise<string>, safe: (text: string) => string): Promise<string> {
  try {
    return await ask();
  } catch (error) {
    return safe((error as Error).message);
  }
}

/**
 * Returns the values that the network tells all its peers, or the host all its programs. A report without them is of little
 * use.
 */
function publicValues(
  directory: string,
  config: NodeConfig | string,
  graph: FullGraph | undefined,
  status: NodeStatus | string,
): Set<string> {
  const all = new Set([hostname(), ...Object.keys(networkInterfaces())]);
  for (const file of [directory, nodeConfigFile(directory), localSocketPath(directory)]) all.add(file);
  const add = (...texts: readonly (string | null | undefined)[]) => {
    for (const text of texts) if (text) all.add(text);
  };
  if (typeof config !== 'string') add(config.controlKey, config.id, config.name, config.workspaceId);
  if (graph) add(graph.self.name, graph.epoch);
  for (const { id, name, publicKey } of graph?.peers ?? []) add(id, name, publicKey);
  if (typeof status === 'string') return all;
  const { node, log, control } = status;
  add(node.publicKey, log.root, log.key, log.origin, control.graph?.epoch);
  for (const { id, name } of status.peers) add(id, name);
  return all;
}
