import { readFileSync } from 'node:fs';
import { z } from 'zod';
import { unreadable } from '../../core/base/unreadable.ts';
import { certificatesFault } from '../../core/model/certificates.ts';
import type { ClusterSettings } from '../../plane/workloads/token-review.ts';

/** Clusters of one configuration. */
const MAX_CLUSTERS = 64;
const path = z.string().min(1);

const cluster = z.strictObject({
  /** As rules for workloads name it. */
  name: z.string().regex(/^[a-z0-9][a-z0-9-]{0,31}$/, 'must be up to 32 small letters, digits and hyphens'),
  server: z.string().refine(isServer, 'must be an https address without a path'),
  /** Authorities that vouch for the server, in place of the public ones. */
  caFile: path.optional(),
  /** Bearer token of a service account that may review tokens; read at each review, because such tokens are renewed. */
  tokenFile: path,
});

/** Kubernetes clusters whose API servers judge tokens of workloads (docs/workloads.md#a-cluster-that-judges-its-tokens). */
export const clustersSchema = z
  .array(cluster)
  .max(MAX_CLUSTERS)
  .refine((all) => new Set(all.map(({ name }) => name)).size === all.length, 'must have a name each');

export type ConfiguredCluster = z.output<typeof cluster>;

/** Notes what is wrong with the files of clusters, by the key that names them. */
export function checkClusterFiles(clusters: readonly ConfiguredCluster[], problems: string[]): void {
  for (const [index, { caFile, tokenFile }] of clusters.entries()) {
    const where = `config.yaml app.kubernetes.${index}`;
    const token = textOf(tokenFile);
    if (token.problem !== undefined) problems.push(`${where}.tokenFile: ${token.problem}`);
    else if (token.text.trim() === '') problems.push(`${where}.tokenFile: ${tokenFile} holds no token`);
    const ca = caFile === undefined ? undefined : textOf(caFile);
    const fault = ca && (ca.problem ?? certificatesFault(ca.text));
    if (fault !== undefined) problems.push(`${where}.caFile: ${fault}`);
  }
}

/** Returns the clusters as they are asked. */
export function clusterSettings(clusters: readonly ConfiguredCluster[]): readonly ClusterSettings[] {
  return clusters.map(({ name, server, caFile, tokenFile }) => ({
    name,
    server,
    ...(caFile !== undefined && { ca: textOf(caFile).text }),
    readToken: () => readFileSync(tokenFile, 'utf8').trim(),
  }));
}

function textOf(file: string): { readonly text: string; readonly problem?: string } {
  try {
    return { text: readFileSync(file, 'utf8') };
  } catch (error) {
    return { text: '', problem: unreadable(file, error) };
  }
}

function isServer(text: string): boolean {
  const url = URL.parse(text);
  if (url?.protocol !== 'https:' || url.username !== '' || url.password !== '') return false;
  return url.pathname === '/' && url.search === '' && url.hash === '' && !url.hostname.endsWith('.');
}
