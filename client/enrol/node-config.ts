import { readFileSync, statSync } from 'node:fs';
import path from 'node:path';
import { z } from 'zod';
import { MeshError } from '../../core/errors.ts';
import { publicKeySchema } from '../../core/network/public-key.ts';
import { replacePrivateFile } from './private-file.ts';

const ID = /^[\w-]{1,64}$/;

const nodeConfigSchema = z.object({
  /** Of the control plane, http(s)://host:port. */
  server: z.url({ protocol: /^https?$/ }),
  id: z.string().regex(ID),
  name: z.string().min(1).max(63),
  workspaceId: z.string().regex(ID),
  /** X25519, base64: what requests are sealed to, and the one key that graphs are taken from. */
  controlKey: publicKeySchema,
  deviceToken: z.string().max(256),
  /** X25519, base64. */
  privateKey: z.base64().length(44),
  /** Given to the control plane as the next key, while its answer is awaited. */
  nextPrivateKey: z.base64().length(44).optional(),
  signalingUrl: z.string().max(512),
  /** Of a sub-agent. */
  agentToken: z.string().max(256).optional(),
  /** ISO 8601; the node ends then. */
  expiresAt: z.iso.datetime().optional(),
});

/** All that a node knows of itself. Holds secrets. */
export type NodeConfig = z.infer<typeof nodeConfigSchema>;

export function nodeConfigFile(directory: string): string {
  return path.join(directory, 'node.json');
}

export function writeNodeConfig(directory: string, config: NodeConfig): void {
  replacePrivateFile(nodeConfigFile(directory), `${JSON.stringify(config, null, 2)}\n`);
}

/**
 * What `mesh init` wrote; undefined when it has not run for this directory.
 *
 * @throws MeshError `invalid_input` for a file that is damaged or that others can read.
 */
export function readNodeConfig(directory: string): NodeConfig | undefined {
  const file = nodeConfigFile(directory);
  const text = readIfThere(file);
  if (text === undefined) return undefined;
  if ((statSync(file).mode & 0o077) !== 0) {
    throw new MeshError('invalid_input', `${file} holds secrets and others can read it: run chmod 600 ${file}`);
  }
  const parsed = nodeConfigSchema.safeParse(parseJson(text));
  if (parsed.success) return parsed.data;
  const fields = [...new Set(parsed.error.issues.map(({ path: at }) => at.join('.') || 'JSON'))].join(', ');
  const remedy = `Restore it from a backup, or run mesh init with a new token and --force.`;
  throw new MeshError('invalid_input', `${file} is damaged (${fields}). ${remedy}`);
}

function readIfThere(file: string): string | undefined {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT' || code === 'ENOTDIR') return undefined;
    throw new MeshError('invalid_input', `${file} cannot be read: ${message}`);
  }
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
