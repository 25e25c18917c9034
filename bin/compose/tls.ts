import { readFileSync } from 'node:fs';
import { createSecureContext } from 'node:tls';
import { ConfigError, type Environment } from './config.ts';

/** PEM texts of the certificate chain and its key, which API, bus and relay share. */
export interface Tls {
  readonly cert: string;
  readonly key: string;
}

/** @throws ConfigError when the files hold no certificate with its key */
export function readTls(env: Pick<Environment, 'MESH_TLS_CERT' | 'MESH_TLS_KEY'>): Tls | undefined {
  if (env.MESH_TLS_CERT === undefined || env.MESH_TLS_KEY === undefined) return undefined;
  const tls = { cert: readFileSync(env.MESH_TLS_CERT, 'utf8'), key: readFileSync(env.MESH_TLS_KEY, 'utf8') };
  try {
    createSecureContext(tls);
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new ConfigError([`MESH_TLS_CERT, MESH_TLS_KEY: no certificate with its own key in PEM form (${reason})`]);
  }
  return tls;
}
