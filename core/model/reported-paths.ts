import { z } from 'zod';
import { listOf } from '../base/list.ts';
import { lineOfText, TEXT_LIMITS } from '../base/text.ts';

/** How a node says it reaches a peer: in its heartbeats, those that changed. */
export const pathReportSchema = z.strictObject({
  peer: lineOfText(TEXT_LIMITS.id).describe('Id of the other peer'),
  transport: z.enum(['probing', 'ice-ready', 'lrp-ready', 'failed', 'closed']),
  path: z.enum(['direct', 'relayed']).nullable().describe('Null while no path is open'),
  reason: lineOfText(TEXT_LIMITS.name)
    .regex(/^[a-z-]{1,32}$/)
    .describe('Why it is so, one code'),
  since: z.iso.datetime().max(TEXT_LIMITS.instant),
});
/** In one heartbeat. */
export const MAX_PATH_REPORTS = 256;
export const pathReportsSchema = listOf(pathReportSchema, MAX_PATH_REPORTS);

export type PathReport = z.infer<typeof pathReportSchema>;

/** Newest kept for one node. */
export const MAX_PATHS_OF_NODE = 1_024;
/** Kept for one workspace; the node that reported longest ago is forgotten first. */
const MAX_OF_WORKSPACE = 100_000;

/** The latest path reports of a workspace's nodes; the same object until one of them reports something else. */
export interface PathsOfNodes {
  readonly nodes: ReadonlyMap<string, ReadonlyMap<string, PathReport>>;
}

interface Workspace {
  /** By node, the one that reported last at the end. */
  readonly nodes: Map<string, Map<string, PathReport>>;
  size: number;
  /** Made when it is asked for, and thrown away with the next report. */
  all: PathsOfNodes | undefined;
}

/** The latest path reports of nodes, in memory. */
export class ReportedPaths {
  readonly #workspaces = new Map<string, Workspace>();

  report(workspace: string, peerUid: string, reports: readonly PathReport[]): void {
    if (reports.length === 0) return;
    const known = this.#workspaces.get(workspace) ?? { nodes: new Map(), size: 0, all: undefined };
    this.#workspaces.set(workspace, known);
    known.all = undefined;
    const paths = known.nodes.get(peerUid) ?? new Map<string, PathReport>();
    known.size -= paths.size;
    known.nodes.delete(peerUid);
    for (const report of reports) {
      paths.delete(report.peer);
      paths.set(report.peer, report);
    }
    dropOldest(paths, MAX_PATHS_OF_NODE);
    known.nodes.set(peerUid, paths);
    known.size += paths.size;
    for (const [oldest, held] of known.nodes) {
      if (known.size <= MAX_OF_WORKSPACE) break;
      known.nodes.delete(oldest);
      known.size -= held.size;
    }
  }

  all(workspace: string): PathsOfNodes {
    const known = this.#workspaces.get(workspace);
    if (!known) return NO_PATHS;
    known.all ??= { nodes: known.nodes };
    return known.all;
  }

  of(workspace: string, peerUid: string): readonly PathReport[] {
    return [...(this.#workspaces.get(workspace)?.nodes.get(peerUid)?.values() ?? [])];
  }
}

const NO_PATHS: PathsOfNodes = { nodes: new Map() };

function dropOldest(paths: Map<string, PathReport>, limit: number): void {
  for (const key of paths.keys()) {
    if (paths.size <= limit) return;
    paths.delete(key);
  }
}
