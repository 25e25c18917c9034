import { X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { readKeysFile } from '../../storage/credentials.ts';
import { STORE_URL, storeAt } from '../../storage/open.ts';
import { readBusKeys } from './bus-keys.ts';
import { ConfigError, isReadableFile, type Variables } from './config.ts';
import { type Part, partProblems } from './single-part.ts';
import { readTls } from './tls.ts';

export interface Start {
  /** The part to run alone, without a control plane. */
  readonly part: Part | undefined;
  readonly standalone: boolean;
}

/**
 * Returns the problems of the variables beyond their form: they must suit the kind of start, and the files that they name must
 * hold the right contents. Nothing is written, and no server is asked.
 */
export async function startProblems(given: Variables, { part, standalone }: Start): Promise<string[]> {
  const tls = failureOf(() => readTls(readable(given, ['MESH_TLS_CERT', 'MESH_TLS_KEY'])));
  if (part !== undefined) return [...partProblems(part, given), ...tls];
  const own = [...modeProblems(given, standalone), ...(await storeProblems(given, standalone))];
  return [...own, ...tls, ...busFileProblems(given)];
}

/** Which of the two ways it runs is said, so that no control plane begins on an empty database by mistake. */
function modeProblems(given: Variables, standalone: boolean): string[] {
  const { MESH_STORE_URL: url, MESH_KEYS_FILE: keys, MESH_BUS_URL: bus, MESH_BUS_LISTEN: busListen } = given;
  const problems: string[] = [];
  if (standalone && keys !== undefined && hasLocalStore(given)) {
    problems.push(
      'MESH_KEYS_FILE: is for control planes that share a store, and MESH_STORE_URL names none: set that to mongodb://<host>:<port>,…/<database>. One with a store of its own keeps its keys in credentials.json: leave MESH_KEYS_FILE out there',
    );
  }
  if (standalone) return problems;
  if (url === undefined || !STORE_URL.isKnown(url) || !storeAt(url).servers) {
    problems.push(
      'MESH_STORE_URL: without --standalone it has to name a MongoDB replica set: mongodb://<host>:<port>,…/<database>',
    );
  }
  if (keys === undefined) {
    problems.push(
      'MESH_KEYS_FILE: control planes that share a store need the same keys: make a file once with meshd keys <file>, and give it to each. A single control plane is started with --standalone',
    );
  }
  if (bus === undefined && busListen !== 'off') {
    problems.push(
      'MESH_BUS_LISTEN: nodes that reach one control plane by its own bus do not reach the others: name NATS servers in MESH_BUS_URL (docs/bus.md), or set MESH_BUS_LISTEN=off and do without. A single control plane is started with --standalone',
    );
  }
  return problems;
}

/** False where its URL is not to be read: nothing is known of it then. */
function hasLocalStore({ MESH_STORE_URL: url }: Variables): boolean {
  return url === undefined || (STORE_URL.isKnown(url) && !storeAt(url).servers);
}

function busFileProblems(given: Variables): string[] {
  const {
    MESH_BUS_KEYS_FILE: keys,
    MESH_BUS_CA: ca,
    MESH_BUS_CREDS: creds,
  } = readable(given, ['MESH_BUS_KEYS_FILE', 'MESH_BUS_CA', 'MESH_BUS_CREDS']);
  return [
    ...(keys === undefined ? [] : failureOf(() => readBusKeys(keys))),
    // OpenSSL passes over what it cannot read there, and no server would be trusted.
    ...(ca === undefined || isCertificate(ca) ? [] : [`MESH_BUS_CA: ${ca} holds no certificate in PEM form`]),
    ...(creds === undefined || isCreds(creds)
      ? []
      : [`MESH_BUS_CREDS: ${creds} holds no NATS credentials: name a file such as nsc generate creds writes`]),
  ];
}

async function storeProblems(given: Variables, standalone: boolean): Promise<string[]> {
  const { MESH_STORE_URL: url, MESH_KEYS_FILE: keysFile } = given;
  // A keys file that has to be left out is not checked.
  const isUsed = keysFile !== undefined && !(standalone && hasLocalStore(given));
  const problem = url !== undefined && STORE_URL.isKnown(url) ? await storeAt(url).problem() : undefined;
  return [
    ...(problem === undefined ? [] : [`MESH_STORE_URL: ${problem}`]),
    ...(isUsed ? failureOf(() => readKeysFile(keysFile)) : []),
  ];
}

/** Returns the readable files among the variables; unreadable ones are reported with the variables. */
function readable<const N extends string>(given: Variables, names: readonly N[]): { [K in N]: string | undefined } {
  const of = (name: string) => given[name] !== undefined && isReadableFile(given[name]);
  return Object.fromEntries(names.map((name) => [name, of(name) ? given[name] : undefined])) as {
    [K in N]: string | undefined;
  };
}

function failureOf(read: () => unknown): readonly string[] {
  try {
    read();
    return [];
  } catch (error) {
    return error instanceof ConfigError ? error.problems : [(error as Error).message];
  }
}

function isCertificate(file: string): boolean {
  try {
    return new X509Certificate(readFileSync(file)).subject !== undefined;
  } catch {
    return false;
  }
}

function isCreds(file: string): boolean {
  const text = readFileSync(file, 'utf8');
  return ['NATS USER JWT', 'USER NKEY SEED'].every((part) => text.includes(`BEGIN ${part}`));
}
