import { readdirSync, statSync, writeFileSync } from 'node:fs';
import { release } from 'node:os';
import path from 'node:path';
import type { Command } from 'commander';
import { askAgent, localSocketPath } from '../client/agent/local-socket.ts';
import { GraphFile } from '../client/control/graph-file.ts';
import { type NodeConfig, readNodeConfig } from '../client/enrol/node-config.ts';
import { tableOf } from '../client/firewall/render.ts';
import { runProgram } from '../client/run-program.ts';
import { defaultInterface } from '../client/tunnel/platform.ts';
import type { FullGraph } from '../core/model/graph.ts';
import { type Answer, answering } from './answer.ts';
import { redactor } from './bugreport/redact.ts';
import { secretsHere } from './bugreport/secrets.ts';
import type { CommandContext } from './command-context.ts';
import { CliError, EXIT } from './exit.ts';
import { nodeDirectory } from './node-directory.ts';
import { fileLines, journalLines, sourceOf } from './node-logs.ts';
import { interfaceOf } from './node-options.ts';
import { requireRoot } from './root.ts';
import { managerHere } from './service/here.ts';

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
      .option('--interface <name>', 'interface of the node', interfaceOf, defaultInterface(process.platform))
      .option('--log-dir <dir>', 'where mesh up --daemon logs', '/var/log/mesh'),
    async (options: ReportOptions): Promise<Answer> => {
      requireRoot('mesh bugreport');
      const text = await collected(options, version);
      if (options.out === '-') return { value: { text }, text };
      const stamp = new Date().toISOString().replaceAll(/[:.]/g, '-');
      const file = path.resolve(options.out ?? `mesh-bugreport-${stamp}.txt`);
      try {
        writeFileSync(file, text, { mode: 0o600, flag: 'wx' });
      } catch (error) {
        throw new CliError(`The report was not written: ${(error as Error).message}`, EXIT.input);
      }
      return {
        value: { file, bytes: Buffer.byteLength(text) },
        text: `Written: ${file}`,
        hints: ['It has no tokens and no private keys. It does have names and addresses: read it before you send it.'],
      };
    },
  );
}

/** The whole report. */
export async function collected(options: ReportOptions, version: string): Promise<string> {
  const directory = nodeDirectory(options.configDir);
  const config = configOf(directory);
  const graph = typeof config === 'string' ? undefined : new GraphFile(directory, config.id).read();
  const status = await askAgent(localSocketPath(directory), { ask: 'status' }).catch(
    (error: unknown) => `no answer: ${(error as Error).message}`,
  );
  const sections: [string, string][] = [
    [
      'mesh',
      `version ${version}, Node ${process.version}, ${process.platform} ${release()} ${process.arch}, ${new Date().toISOString()}`,
    ],
    ['configuration', configText(config)],
    ['files', filesText(directory)],
    ['status', typeof status === 'string' ? status : JSON.stringify(status, null, 1)],
    ['graph on disk', graphText(graph)],
    ['settings in the environment, without values', settingsText()],
    ['service', await said(async () => JSON.stringify(await managerHere().status(options.interface), null, 1))],
    ...(await programs(options.interface)),
    ['log', await said(() => logText(options))],
  ];
  const safe = redactor(secretsHere(directory, process.env), publicKeys(config, graph, status));
  return sections.map(([title, text]) => `## ${title}\n${safe(text).slice(-MOST_OF_A_SECTION).trim()}\n`).join('\n');
}

function configOf(directory: string): NodeConfig | string {
  try {
    return readNodeConfig(directory) ?? `${directory} holds no configuration of a node`;
  } catch (error) {
    return (error as Error).message;
  }
}

function configText(config: NodeConfig | string): string {
  if (typeof config === 'string') return config;
  const { server, id, name, workspaceId, controlKey, signalingUrl, expiresAt } = config;
  return JSON.stringify({ server, id, name, workspaceId, controlKey, signalingUrl, expiresAt }, null, 1);
}

/** Who there is and how many rules, and not what they are: the table of the firewall has them. */
function graphText(graph: FullGraph | undefined): string {
  if (!graph) return 'none';
  const { epoch, version, reason, self, peers, firewall, relay, stun } = graph;
  const rules = { in: firewall.full.in.length, out: firewall.full.out.length };
  const place = relay && { url: relay.url, expiresAt: relay.expiresAt };
  return JSON.stringify({ epoch, version, reason, self, peers: peers.length, rules, relay: place, stun }, null, 1);
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

async function logText({ interface: name, logDir }: ReportOptions): Promise<string> {
  const { journal, file } = await sourceOf(name, logDir);
  return (journal === undefined ? fileLines(file, LOG_LINES) : await journalLines(journal, LOG_LINES)).join('\n');
}

async function said(ask: () => Promise<string>): Promise<string> {
  try {
    return await ask();
  } catch (error) {
    return (error as Error).message;
  }
}

/** Keys that everybody may know, which the report is of little use without. */
function publicKeys(config: NodeConfig | string, graph: FullGraph | undefined, status: unknown): Set<string> {
  const { node } = (status ?? {}) as { node?: { publicKey?: string } };
  const all = [
    ...(typeof config === 'string' ? [] : [config.controlKey]),
    ...(graph?.peers.map(({ publicKey }) => publicKey) ?? []),
    node?.publicKey ?? '',
  ];
  return new Set(all.filter((key) => key !== ''));
}
