import path from 'node:path';
import { namesIn, textIn } from '../../client/if-readable.ts';
import { parseEndpoint } from '../../client/tunnel/uapi.ts';

/** The fields that are not secret in the files of a node and of a login. Every other field is. */
const PUBLIC = new Set([
  ...[
    'server',
    'id',
    'name',
    'workspaceId',
    'controlKey',
    'signalingUrl',
    'expiresAt',
    'keySince',
    'acceptRoutes',
    'carriedBlock',
    'probationBlock',
    'withdrawnBlock',
    'username',
    'workspace',
  ],
  ...['origin', 'kept', 'refused', 'note', 'key', 'at', 'code', 'message'],
]);
/** The secret fields of a graph: its credentials alone, because the rest is addresses, names and public keys. */
const OF_A_GRAPH = new Set(['credential', 'address', 'url']);
const SECRET_NAME = /TOKEN|SECRET|PASS|KEY|CREDENTIAL|OTP|AUTH/i;

/** Files that hold names and addresses alone. */
const PUBLIC_FILES = new Set(['known-addresses.json']);

/** Every secret that can be known here: of the files of a directory, read as they are, and of the environment. */
export function secretsHere(directory: string, env: NodeJS.ProcessEnv): string[] {
  const found: string[] = [];
  for (const name of namesIn(directory)) {
    const text = textIn(path.join(directory, name));
    if (name === 'graph.json') found.push(...ofRelay(text));
    else if (name === 'known-peers.json') found.push(...ofJson(text).filter((value) => parseEndpoint(value) === null));
    else if (name.endsWith('.json') && !PUBLIC_FILES.has(name)) found.push(...ofJson(text));
    else if (name === 'node.key') found.push(text.trim());
  }
  for (const [name, value = ''] of Object.entries(env)) if (SECRET_NAME.test(name)) found.push(value);
  return found;
}

/** Strings below names that are not known as public; of a damaged file, all that stands in quotes. */
function ofJson(text: string): string[] {
  try {
    return stringsIn(JSON.parse(text), (name) => !PUBLIC.has(name));
  } catch {
    return [...text.matchAll(/"([^"\\]{12,})"/g)].map(([, value = '']) => value);
  }
}

function ofRelay(text: string): string[] {
  try {
    const { relay } = JSON.parse(text) as { relay?: unknown };
    return stringsIn(relay, (name) => OF_A_GRAPH.has(name)).filter((value) => !/^[\w.:-]+:\d+$/.test(value));
  } catch {
    return [...text.matchAll(/"credential":\s*"([^"]+)"/g)].map(([, value = '']) => value);
  }
}

function stringsIn(value: unknown, isSecret: (name: string) => boolean, name = ''): string[] {
  if (typeof value === 'string') return isSecret(name) ? [value] : [];
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([key, each]) => stringsIn(each, isSecret, Array.isArray(value) ? name : key));
}
