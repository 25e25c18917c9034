import { z } from 'zod';
import { TEXT_LIMITS } from '../base/text.ts';
import { MAX_PATH_REPORTS, pathReportsSchema } from './reported-paths.ts';
import { versionSchema } from './version.ts';
import { MAX_WIRE_TEXT } from './wire.ts';
import { witnessedSchema } from './witnesses.ts';

/** The part of a heartbeat that a node reports about itself. */
export const nodeReportSchema = z.object({
  version: versionSchema.optional(),
  paths: pathReportsSchema.optional(),
  witnessed: witnessedSchema.optional(),
  /** The versions of the wire that it speaks. */
  wire: z.string().max(MAX_WIRE_TEXT).optional(),
});
export type NodeReport = z.infer<typeof nodeReportSchema>;

/** A heartbeat report that only one control plane received, which it sends to all others. */
export const receivedHeartbeatSchema = nodeReportSchema.extend({
  workspace: z.string().max(TEXT_LIMITS.id),
  peer: z.string().max(TEXT_LIMITS.id),
  at: z.int(),
  /** Why it is refused: it has no version of the wire in common with the control plane. */
  mismatch: z.string().optional(),
});
export type ReceivedHeartbeat = z.infer<typeof receivedHeartbeatSchema>;

/** Heartbeat reports that this control plane alone received since it last sent them to the others, merged per node. */
export class ReceivedHeartbeats {
  #untold = new Map<string, ReceivedHeartbeat>();

  add(hearing: ReceivedHeartbeat): void {
    const key = `${hearing.workspace} ${hearing.peer}`;
    const { mismatch: _, ...before }: Partial<ReceivedHeartbeat> = this.#untold.get(key) ?? {};
    const byPeer = new Map([...(before.paths ?? []), ...(hearing.paths ?? [])].map((report) => [report.peer, report]));
    const paths = [...byPeer.values()].slice(-MAX_PATH_REPORTS);
    this.#untold.set(key, { ...before, ...present(hearing), ...(paths.length > 0 && { paths }) });
  }

  /** Takes them out. */
  take(): readonly ReceivedHeartbeat[] {
    const taken = [...this.#untold.values()];
    this.#untold = new Map();
    return taken;
  }
}

/** Without what is undefined, so that what was said before stays. */
function present(hearing: ReceivedHeartbeat): ReceivedHeartbeat {
  return Object.fromEntries(Object.entries(hearing).filter(([, value]) => value !== undefined)) as ReceivedHeartbeat;
}
