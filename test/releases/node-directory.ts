import path from 'node:path';
import { freshDirectory } from '../kits/process/meshd.ts';
import { readDirectory, unpack } from './directory.ts';

const fileOf = (version: string) => path.join(import.meta.dirname, version, 'node-directory.json.gz');

/** A copy of the configuration directory of a node of the release. Its control plane is at `server` now, without a bus. */
export function nodeDirectoryOf(version: string, server: string): string {
  const files = readDirectory(fileOf(version));
  const config = { ...JSON.parse(files['node.json'] ?? ''), server, signalingUrl: 'nats://127.0.0.1:1' };
  const directory = freshDirectory();
  unpack({ ...files, 'node.json': JSON.stringify(config) }, directory);
  return directory;
}
