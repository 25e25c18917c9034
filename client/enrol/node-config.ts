import { statSync } from 'node:fs';
import path from 'node:path';
import { MeshError } from '../../core/base/errors.ts';
import { type Infer, instant, json, list, Mismatch, object, oneOf, text } from '../../core/base/shape.ts';
import { unreadable } from '../../core/base/unreadable.ts';
import { parseCidr } from '../../core/model/cidr.ts';
import { isPublicKey } from '../../core/model/public-key.ts';
import { readRegular } from '../if-readable.ts';
import { replacePrivateFile } from './private-file.ts';

/** Characters of what a node signs in to the bus with. */
export const MAX_BUS_JWT = 4_096;
const ID = /^[\w-]{1,64}$/;
/** CIDRs that one node accepts. */
export const MAX_ACCEPTED = 32;
const cidr = text(49, (value) => parseCidr(value) !== undefined);
const key = text(44, /^[A-Za-z0-9+/]{43}=$/);

const nodeConfigShape = object(
  {
    /** Address of the control plane, http(s)://host:port. */
    server: text(2_048, isHttpUrl),
    id: text(64, ID),
    name: text(63, /^./),
    workspaceId: text(64, ID),
    /** X25519, base64: what requests are sealed to, and the one key that graphs are taken from. */
    controlKey: text(44, isPublicKey),
    deviceToken: text(256),
    /** X25519, base64. */
    privateKey: key,
    signalingUrl: text(512),
  },
  {
    /** Given to the control plane as the next key, while its answer is awaited. */
    nextPrivateKey: key,
    /** Made by this node along with it. */
    nextDeviceToken: text(256),
    /** When it took its present key. */
    keySince: instant,
    /** Credential for a bus that knows nodes by a key. */
    busJwt: text(MAX_BUS_JWT),
    /** Token of a sub-agent. */
    agentToken: text(256),
    /** ISO 8601; the node ends then. */
    expiresAt: instant,
    /** CIDRs beyond the private ones that this node routes where its network has them; absent in what an earlier version wrote. */
    acceptRoutes: list(cidr, MAX_ACCEPTED),
    /** Block that an earlier version routed and that is refused now: it stays. */
    carriedBlock: cidr,
    /** Block whose route is not trusted yet: whether this node reaches its control plane over it is not known. */
    probationBlock: cidr,
    /** Block whose route cut this node off from its control plane. */
    withdrawnBlock: cidr,
    /** Its tunnel ends in the process of the node (`--userspace`); absent: in an interface of the host. */
    tunnel: oneOf('userspace'),
  },
);

/** All that a node knows of itself. Holds secrets. */
export type NodeConfig = Infer<typeof nodeConfigShape>;

export function nodeConfigFile(directory: string): string {
  return path.join(directory, 'node.json');
}

export function writeNodeConfig(directory: string, config: NodeConfig): void {
  replacePrivateFile(nodeConfigFile(directory), `${JSON.stringify(config, null, 2)}\n`);
}

/**
 * Reads the configuration that `mesh init` wrote; undefined when it has not run for this directory.
 *
 * @throws MeshError `invalid_input` for a file that is damaged or that others can read.
 */
export function readNodeConfig(directory: string): NodeConfig | undefined {
  const file = nodeConfigFile(directory);
  const held = readIfThere(file);
  if (held === undefined) return undefined;
  if ((statSync(file).mode & 0o077) !== 0) {
    throw new MeshError('invalid_input', `${file} holds secrets and others can read it: run chmod 600 ${file}`);
  }
  try {
    return json(nodeConfigShape)(held);
  } catch (error) {
    if (!(error instanceof Mismatch)) throw error;
    const remedy = `Restore it from a backup, or join anew with a new token and --force.`;
    throw new MeshError('invalid_input', `${file} is damaged (${error.path.join('.') || 'JSON'}). ${remedy}`);
  }
}

function readIfThere(file: string): string | undefined {
  try {
    return readRegular(file);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT' || code === 'ENOTDIR') return undefined;
    throw new MeshError('invalid_input', unreadable(file, error));
  }
}

function isHttpUrl(url: string): boolean {
  return /^https?:$/.test(URL.parse(url)?.protocol ?? '');
}
