import { homedir } from 'node:os';
import path from 'node:path';
import { nodeConfigFile, readNodeConfig } from '../client/enrol/node-config.ts';
import { readRegular } from '../client/if-readable.ts';
import { type Infer, ifIs, json, object, type Shape, text } from '../core/base/shape.ts';
import { isPublicKey } from '../core/model/public-key.ts';
import { variable } from './variable.ts';

/** Where the node of this machine keeps its configuration: `init` and `up` must use the same directory. */
export function nodeDirectory(given: string | undefined): string {
  return path.resolve(given ?? variable('MESH_CONFIG_DIR') ?? path.join(homedir(), '.mesh'));
}

/** False where this user cannot read the configuration. */
export function isUserspaceNode(directory: string): boolean {
  try {
    return readNodeConfig(directory)?.tunnel === 'userspace';
  } catch {
    return false;
  }
}

/** The control plane of the node of this machine, or of the last login of who is behind sudo. */
export function localServer(): string | undefined {
  const directories = [nodeDirectory(undefined), ...otherHomes()];
  const files = directories.flatMap((directory) => [nodeConfigFile(directory), path.join(directory, 'session.json')]);
  for (const file of files) {
    const server = serverIn(file);
    if (server !== undefined) return server;
  }
  return undefined;
}

/** The control plane of the node whose configuration this user keeps and can read. */
export function nodeServer(): string | undefined {
  return serverIn(nodeConfigFile(nodeDirectory(undefined)));
}

const planeShape = object({ server: text(2_048), controlKey: text(44, isPublicKey) });
/** The control plane that a node of this host has joined. */
export type OwnPlane = Infer<typeof planeShape>;

/** Returns the control plane of the node in a directory, else in the homes where one may be; undefined where this user can read none. */
export function ownPlane(directory = nodeDirectory(undefined)): OwnPlane | undefined {
  for (const each of [directory, ...otherHomes()]) {
    const plane = readIf(json(planeShape), nodeConfigFile(each));
    if (plane) return plane;
  }
  return undefined;
}

const serverShape = json(object({ server: text(2_048) }));

function serverIn(file: string): string | undefined {
  return readIf(serverShape, file)?.server;
}

function readIf<T>(shape: Shape<T>, file: string): T | undefined {
  try {
    return ifIs(shape, readRegular(file));
  } catch {
    return undefined;
  }
}

/** Home of the user behind sudo, and root's own: what is often mixed up. */
export function otherHomes(): string[] {
  const user = process.env['SUDO_USER'];
  const homes = [homedir(), '/root', ...(user && /^[\w.-]+$/.test(user) ? [`/home/${user}`] : [])];
  return homes.map((home) => path.join(home, '.mesh'));
}
