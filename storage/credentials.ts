import { generateKeyPairSync, randomBytes } from 'node:crypto';
import { readFileSync, statSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { z } from 'zod';
import { unreadable } from '../core/base/unreadable.ts';
import { modeOpenToOthers } from './file-mode.ts';
import { newLogKey, rotated, type StoredLogKey, storedLogKey } from './log-keys.ts';
import { makeDurable, replaceOwned } from './owned-file.ts';

/** Secrets of the installation, made at first start (docs/configuration.md). Keys are PKCS #8 PEM. */
const credentialsSchema = z.object({
  relayToken: z.string().min(16),
  /** Ed25519: sessions, attestations. */
  signingKey: z.string().startsWith('-----BEGIN PRIVATE KEY-----'),
  /** X25519: what nodes seal to. */
  controlKey: z.string().startsWith('-----BEGIN PRIVATE KEY-----'),
  /** Ed25519: checkpoints of the audit logs; the last one signs. Absent in files of older versions. */
  logKeys: z.array(storedLogKey).min(1).optional(),
});
type StoredCredentials = z.infer<typeof credentialsSchema>;
export type Credentials = Omit<StoredCredentials, 'logKeys'> & { readonly logKeys: readonly StoredLogKey[] };

const NAME = 'credentials.json';

/**
 * Reads `<configDir>/credentials.json`, or makes it with mode 0600.
 *
 * @throws Error that says what to do when others may read the file or it is damaged: it is never replaced.
 */
export function loadCredentials(configDir: string): Credentials {
  const name = credentialsFile(configDir);
  if (!hasCredentials(configDir)) return write(name, newCredentials());
  return withLogKeys(name, readStored(name));
}

/**
 * The same, where they are there. Nothing is written: a log key that has to be made is of this answer alone.
 *
 * @throws Error as `loadCredentials`
 */
export function readCredentials(configDir: string): Credentials | undefined {
  if (!hasCredentials(configDir)) return undefined;
  const { logKeys, ...others } = readStored(credentialsFile(configDir));
  return { ...others, logKeys: logKeys ?? [newLogKey(Date.now())] };
}

/**
 * Keys that control planes share, in a file that none of them writes (MESH_KEYS_FILE).
 *
 * @throws Error that says what to do
 */
export function readKeysFile(name: string): Credentials {
  if (!statSync(name, { throwIfNoEntry: false })) {
    throw new Error(
      `MESH_KEYS_FILE: ${name} is not there. Make it once with meshd keys <file>, and give each control plane the same.`,
    );
  }
  requirePrivate(name, 'MESH_KEYS_FILE: ');
  const parsed = credentialsSchema.required().safeParse(parseJson(textIn(name)));
  if (parsed.success) return parsed.data;
  throw new Error(
    `MESH_KEYS_FILE: ${name} is damaged, or holds no keys: put a copy of it in its place. A new file means new keys, with which every node has to join again.`,
  );
}

/** Makes a file of new keys. @throws Error where there is one */
export function makeKeysFile(name: string): void {
  try {
    writeFileSync(name, textOf(newCredentials()), { flag: 'wx', mode: 0o600 });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    throw new Error(`${name} is there already, and keys are never replaced: name another file.`);
  }
  makeDurable(path.dirname(path.resolve(name)));
}

function textIn(keysFile: string): string {
  try {
    return readFileSync(keysFile, 'utf8');
  } catch (error) {
    throw new Error(`MESH_KEYS_FILE: ${unreadable(keysFile, error)}`);
  }
}

/** @param variable that names it, before what is said */
function requirePrivate(name: string, variable = ''): void {
  const mode = modeOpenToOthers(name);
  if (mode === undefined) return;
  throw new Error(`${variable}${name} has mode ${mode}: others can read the secrets in it. Run: chmod 600 ${name}`);
}

function readStored(name: string): StoredCredentials {
  requirePrivate(name);
  const parsed = credentialsSchema.safeParse(parseJson(readFileSync(name, 'utf8')));
  if (parsed.success) return parsed.data;
  throw new Error(
    `${name} is damaged: put a copy of it in its place. Without one move it away, and restore a backup that was made --with-credentials, or start once with --accept-loss: that makes new keys, with which every node has to join again.`,
  );
}

export const credentialsFile = (configDir: string) => path.join(configDir, NAME);

/** True if the directory belongs to an installation that has been started before. */
export function hasCredentials(configDir: string): boolean {
  return statSync(credentialsFile(configDir), { throwIfNoEntry: false }) !== undefined;
}

/**
 * Gives the audit logs another key to sign with, from now on; the control plane must not run.
 *
 * @returns the public part of the new key, base64
 */
export function rotateLogKey(configDir: string, now: number): string {
  const name = credentialsFile(configDir);
  if (!hasCredentials(configDir)) throw new Error(`${name} is not there: name the --config-dir of meshd.`);
  const before = loadCredentials(configDir);
  const logKeys = rotated(before.logKeys, now);
  write(name, { ...before, logKeys });
  return logKeys.at(-1)?.publicKey ?? '';
}

/**
 * Credentials that a backup brought, where there are none.
 *
 * @returns whether they were taken
 * @throws Error where they are damaged
 */
export function keepCredentials(configDir: string, text: string): boolean {
  if (hasCredentials(configDir)) return false;
  const { logKeys, ...others } = credentialsSchema.parse(parseJson(text));
  write(credentialsFile(configDir), { ...others, logKeys: logKeys ?? [newLogKey(Date.now())] });
  return true;
}

function newCredentials(): Credentials {
  const pem = { type: 'pkcs8', format: 'pem' } as const;
  return {
    relayToken: randomBytes(32).toString('base64url'),
    signingKey: generateKeyPairSync('ed25519').privateKey.export(pem) as string,
    controlKey: generateKeyPairSync('x25519').privateKey.export(pem) as string,
    logKeys: [newLogKey(Date.now())],
  };
}

function withLogKeys(name: string, { logKeys, ...others }: StoredCredentials): Credentials {
  return logKeys ? { ...others, logKeys } : write(name, { ...others, logKeys: [newLogKey(Date.now())] });
}

function write(name: string, credentials: Credentials): Credentials {
  replaceOwned(name, textOf(credentials));
  return credentials;
}

function textOf(credentials: Credentials): string {
  return `${JSON.stringify(credentials, null, 2)}\n`;
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
