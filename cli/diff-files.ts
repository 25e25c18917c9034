import type { FileResource } from '../core/history/export.ts';
import { FILE_KINDS } from '../core/model/file-records.ts';
import { toYaml } from '../core/views/render-yaml.ts';
import { type Preview, preview, prunedKinds } from './apply.ts';
import { exportAnswer } from './export.ts';
import { type ImportPlan, planImport } from './import-plan.ts';
import { type Documents, fileOf, nameOf, readDocuments } from './resource-files.ts';
import type { Target } from './session.ts';

/** The differences of two sides, the old side first. */
export interface Difference {
  readonly from: string;
  readonly to: string;
  readonly resources: readonly ResourceDifference[];
  /** Connections that are opened or closed by it. */
  readonly connections: readonly Connection[];
  /** Further differences that are no resources in files, a line each. */
  readonly others: readonly string[];
  /** Notes that are no differences. */
  readonly notes: readonly string[];
}

export interface ResourceDifference {
  readonly kind: string;
  readonly name: string;
  readonly file: string;
  /** YAML; empty where it is not there. */
  readonly before: string;
  readonly after: string;
}

export interface Connection {
  readonly change: 'opened' | 'closed';
  readonly src: string;
  readonly dst: string;
  readonly ports: string;
}

/** Returns the changes that applying the files would make; for a directory also what only the network has. */
export async function filesAgainstNow(target: Target, from: string): Promise<Difference> {
  const read = await readDocuments(from);
  const { isDirectory } = read;
  const now = await exportAnswer(target);
  const plan = planImport(read.documents, now.resources);
  const places = plan.indexes.map((index) => read.places[index] ?? '');
  const values = { documents: plan.documents, ...(isDirectory && { prune: prunedKinds(true, read) }) };
  const found = await preview(target, { places }, values);
  const peers = peerDifferences(read, plan, now.resources);
  const own = new Set(peers.map(({ kind, name }) => `${kind}/${name}`));
  const resources = found.changes.map(({ resource: kind, name, before, after }) => {
    const place = read.documents.findIndex((document) => isOf(document, kind, name));
    return {
      kind,
      name,
      file: read.places[place] ?? fileOf({ kind: kindOf(kind), metadata: { name } }),
      before,
      after,
    };
  });
  return {
    from: `the network at ${now.at}`,
    to: from,
    resources: [...resources.filter(({ kind, name }) => !own.has(`${kind}/${name}`)), ...peers],
    connections: found.connections.map(({ src, dst, ...one }) => ({
      ...one,
      src: src.join(', '),
      dst: dst.join(', '),
    })),
    others: [],
    notes: notesOf(found),
  };
}

function kindOf(kind: string) {
  const found = FILE_KINDS.find((one) => one === kind);
  if (!found) throw new TypeError(`${kind} is no kind of files.`);
  return found;
}

function isOf(document: unknown, kind: string, name: string): boolean {
  const own = nameOf(document);
  return own.kind === kind && own.name.replaceAll(' ', '-').toLowerCase() === name.toLowerCase();
}

/** Peers that are on one side alone, or have another key there: nothing that is applied makes, removes or changes one so. */
function peerDifferences(
  { documents, places, isDirectory }: Documents & { readonly isDirectory: boolean },
  { missing, otherKeys }: ImportPlan,
  there: readonly FileResource[],
): ResourceDifference[] {
  const inFiles = documents.flatMap((document, index) =>
    nameOf(document).kind === 'MeshPeer' ? [{ document, place: places[index] ?? '', name: nameOf(document).name }] : [],
  );
  const peers = there.filter(({ kind }) => kind === 'MeshPeer');
  const sides = [...missing.map(({ name }) => name), ...otherKeys].map((name) => {
    const file = inFiles.find((one) => isOf(one.document, 'MeshPeer', name));
    const held = peers.find((peer) => isOf(peer, 'MeshPeer', name));
    return { name, file: file?.place ?? '', before: held ? toYaml(held) : '', after: toYaml(file?.document) };
  });
  const only = peers.flatMap((peer) => {
    const { name } = peer.metadata;
    if (!isDirectory || inFiles.length === 0 || inFiles.some(({ document }) => isOf(document, 'MeshPeer', name)))
      return [];
    return [{ name, file: fileOf(peer), before: toYaml(peer), after: '' }];
  });
  return [...sides, ...only].map((one) => ({ kind: 'MeshPeer', ...one }));
}

function notesOf({ items, omitted_connections: omitted, warnings }: Preview): string[] {
  const ended = items.filter(({ result }) => result === 'ended').map(({ name }) => name);
  return [
    ...(omitted > 0
      ? [`${omitted} more groups of connections are not shown: compare fewer files at once to see them.`]
      : []),
    ...(ended.length > 0 ? [`The time of these policies is over, they are taken for none: ${ended.join(', ')}.`] : []),
    ...warnings,
  ];
}
