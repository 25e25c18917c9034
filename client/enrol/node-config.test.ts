import { chmodSync, mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { generateKeyPair } from '../../net/seal/x25519.ts';
import { type NodeConfig, nodeConfigFile, readNodeConfig, writeNodeConfig } from './node-config.ts';

let home: string;
let directory: string;
beforeEach(() => {
  home = mkdtempSync(path.join(tmpdir(), 'mesh-node-'));
  directory = path.join(home, 'nested', '.mesh');
});
afterEach(() => rmSync(home, { recursive: true, force: true }));

function config(): NodeConfig {
  const { publicKey, privateKey } = generateKeyPair();
  return {
    server: 'https://mesh.example.net',
    id: 'p_a',
    name: 'web',
    workspaceId: 'w_a',
    controlKey: Buffer.from(publicKey).toString('base64'),
    deviceToken: 'mesh-dev-x',
    privateKey: Buffer.from(privateKey).toString('base64'),
    signalingUrl: 'nats://mesh.example.net:4222',
  };
}

describe('the configuration of a node', () => {
  test('is read back as it was written, in a directory and a file for its owner alone', () => {
    const written = config();
    writeNodeConfig(directory, written);
    writeNodeConfig(directory, written);
    expect(readNodeConfig(directory)).toEqual(written);
    const modes = [directory, nodeConfigFile(directory)].map((name) => (statSync(name).mode & 0o777).toString(8));
    expect([modes, readdirSync(directory)]).toEqual([['700', '600'], ['node.json']]);
  });

  test('is none before mesh init', () => {
    expect(readNodeConfig(directory)).toBeUndefined();
  });

  test('that is damaged is named with its wrong fields and what to do', () => {
    const { privateKey: _, ...rest } = config();
    writeNodeConfig(directory, rest as NodeConfig);
    expect(() => readNodeConfig(directory)).toThrow(/node\.json is damaged \(privateKey\)\. .*join anew/);
    writeFileSync(nodeConfigFile(directory), '{"server":');
    expect(() => readNodeConfig(directory)).toThrow(/node\.json is damaged \(JSON\)/);
  });

  test('that others can read is refused', () => {
    writeNodeConfig(directory, config());
    chmodSync(nodeConfigFile(directory), 0o644);
    expect(() => readNodeConfig(directory)).toThrow(/others can read it: run chmod 600/);
  });
});
