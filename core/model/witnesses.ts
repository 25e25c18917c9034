import { z } from 'zod';
import { MAX_LOG_ENTRIES } from '../audit/checkpoint.ts';
import { lineOfText } from '../base/text.ts';

const MAX_MESSAGE = 1_000;

/** A node's report on the audit log in its heartbeats: how far it verified the log, and what it refuses. */
export const witnessedSchema = z.strictObject({
  size: z.int().min(0).max(MAX_LOG_ENTRIES).describe('Entries of the newest checkpoint that it verified'),
  finding: z
    .strictObject({
      code: z.enum(['signature', 'key_changed', 'other_log', 'shortened', 'forked']),
      message: lineOfText(MAX_MESSAGE),
    })
    .optional()
    .describe('Why it refuses the checkpoint that it was sent last'),
});
export type WitnessReport = z.infer<typeof witnessedSchema>;

const HOUR_MS = 3_600_000;
/** Kept for one workspace; the node that reported longest ago is forgotten first. */
const MAX_OF_WORKSPACE = 100_000;

interface Node {
  readonly said: WitnessReport;
  /** When what it refuses became an event last. */
  readonly toldAt: number;
}

/** The latest reports of nodes on the audit log, in memory: nodes send them in full again after a restart. */
export class Witnesses {
  readonly #nodes = new Map<string, Map<string, Node>>();
  readonly #offered = new Map<string, number>();

  /** @returns whether what it refuses is new and is to be told: at most once an hour for each node */
  heard(workspace: string, peerUid: string, said: WitnessReport, now: number): boolean {
    const nodes = this.#nodes.get(workspace) ?? new Map<string, Node>();
    this.#nodes.set(workspace, nodes);
    const before = nodes.get(peerUid);
    const isNew = said.finding !== undefined && said.finding.code !== before?.said.finding?.code;
    const isToTell = isNew && (before === undefined || now - before.toldAt >= HOUR_MS);
    // A later report announces a finding that is held back here.
    const isHeldBack = isNew && !isToTell;
    nodes.delete(peerUid);
    nodes.set(peerUid, {
      said: isHeldBack ? { size: said.size } : said,
      toldAt: isToTell ? now : (before?.toldAt ?? Number.NEGATIVE_INFINITY),
    });
    for (const oldest of nodes.keys()) {
      if (nodes.size <= MAX_OF_WORKSPACE) break;
      nodes.delete(oldest);
    }
    return isToTell;
  }

  of(workspace: string, peerUid: string): WitnessReport | undefined {
    return this.#nodes.get(workspace)?.get(peerUid)?.said;
  }

  /** Returns true if the newest checkpoint is due for a node that receives no other news: once an hour. */
  isDue(peerUid: string, now: number): boolean {
    const at = this.#offered.get(peerUid);
    if (at !== undefined && now - at < HOUR_MS) return false;
    this.#offered.delete(peerUid);
    this.#offered.set(peerUid, now);
    for (const oldest of this.#offered.keys()) {
      if (this.#offered.size <= MAX_OF_WORKSPACE) break;
      this.#offered.delete(oldest);
    }
    return true;
  }
}
