import path from 'node:path';
import type { Config } from './config.ts';

export function storeUrl({ env, configDir }: Pick<Config, 'env' | 'configDir'>): string {
  return env.MESH_STORE_URL ?? path.resolve(configDir, 'mesh.db');
}
