import { rmSync } from 'node:fs';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { silentLog } from '../../core/base/silent-log.ts';
import type { Api } from '../kits/http/harness.ts';
import { freshDirectory } from '../kits/process/meshd.ts';
import { run } from '../kits/process/run-command.ts';
import { filesIn, writeDirectory } from './directory.ts';
import { callOf, type Place } from './network.ts';

interface Making {
  readonly checkout: string;
  readonly target: string;
  readonly url: string;
  readonly api: Api;
  readonly place: Place;
  /** Join token. */
  readonly token: string;
}

/** Address of a peer that this node met, from a block for documentation. */
const MET = { address: '192.0.2.7', port: 51_820 };

/**
 * Makes `node-directory.json.gz`: the configuration directory of `edge-1`, a node of that control plane which joined by
 * `mesh init`, took its graph, verified a checkpoint of the audit log and met a peer. All files are written by the release.
 */
export async function makeNodeDirectory({ checkout, target, url, api, place, token }: Making): Promise<void> {
  const directory = freshDirectory();
  const args = ['init', '--server', url, '--token', token, '--name', 'edge-1', '--config-dir', directory];
  const joined = await run(path.join(checkout, 'bin/mesh'), args, { env: { HOME: directory } });
  if (joined.code !== 0) throw new Error(joined.stderr);
  const call = callOf(api);
  const { status } = await call('GET', '/api/v1/peers/edge-1', place);
  if (status.phase === 'pending') await call('POST', '/api/v1/peers/edge-1/approve', { ...place, body: {} });
  await follow(checkout, directory);
  const held = filesIn(directory, (name) => name.endsWith('.json'));
  for (const name of ['node.json', 'graph.json', 'audit-log.json', 'known-peers.json']) {
    if (held[name] === undefined) throw new Error(`The node wrote no ${name}, only ${Object.keys(held)}`);
  }
  writeDirectory(path.join(target, 'node-directory.json.gz'), held);
  rmSync(directory, { recursive: true });
}

/** Runs the node of the directory, without an overlay, until it has a graph and a checkpoint. */
async function follow(checkout: string, directory: string): Promise<void> {
  const [{ readNodeConfig, writeNodeConfig }, { GraphFile }, { LogFile }, { KnownPeers }, { ControlLink }] = [
    await of<typeof import('../../client/enrol/node-config.ts')>(checkout, 'client/enrol/node-config.ts'),
    await of<typeof import('../../client/control/graph-file.ts')>(checkout, 'client/control/graph-file.ts'),
    await of<typeof import('../../client/control/log-file.ts')>(checkout, 'client/control/log-file.ts'),
    await of<typeof import('../../client/agent/known-peers.ts')>(checkout, 'client/agent/known-peers.ts'),
    await of<typeof import('../../client/control/control-link.ts')>(checkout, 'client/control/control-link.ts'),
  ];
  const config = readNodeConfig(directory);
  if (!config) throw new Error(`There is no node in ${directory}`);
  const logFile = new LogFile(directory);
  const file = new GraphFile(directory, config.id);
  const link = new ControlLink({
    config,
    version: '0.0.0',
    file,
    logFile,
    busWaitMs: 2_000,
    clock: { now: Date.now },
    log: silentLog,
    saveConfig: (changed) => writeNodeConfig(directory, changed),
    onGraph: () => {},
    onStanding: () => {},
    onSignal: () => {},
    onBus: () => {},
  });
  await link.start();
  const deadline = Date.now() + 20_000;
  while (!file.read() || !logFile.read()?.kept) {
    if (Date.now() > deadline) throw new Error(`The node has no graph or no checkpoint: ${link.status.trouble}`);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  await link.stop();
  const [peer] = file.read()?.peers ?? [];
  if (!peer) throw new Error('The node has no peers.');
  const known = new KnownPeers(directory, silentLog);
  known.remember(peer.publicKey, [MET]);
  known.flush();
}

/** A module of the release, which has the shape of today's as far as it is used here. */
function of<T>(checkout: string, file: string): Promise<T> {
  return import(pathToFileURL(path.join(checkout, file)).href);
}
