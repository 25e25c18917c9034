import { z } from 'zod';
import type { SharedMessages } from '../core/base/shared.ts';
import { lookUpById } from '../core/model/find.ts';
import {
  type ReceivedHeartbeat,
  type ReceivedHeartbeats,
  receivedHeartbeatSchema,
} from '../core/model/received-heartbeats.ts';
import { applyNodeReport } from '../core/peers/apply-node-report.ts';
import type { Services } from '../core/workflow/services.ts';

/** Interval at which heartbeat reports are sent to the other control planes and read from them, ms: a node beats each 15 s. */
export const SEND_INTERVAL_MS = 2_000;
/** After a round that failed. */
const RETRY_MS = 5_000;
/** Characters of one message. */
const MAX_MESSAGE = 500_000;

type HeartbeatServices = Pick<Services, 'states' | 'liveness' | 'paths' | 'witnesses' | 'clock' | 'log'>;

export interface SharedHeartbeats {
  /** Tells the others, and learns what they have heard. */
  tell(): Promise<void>;
  /** Idempotent. */
  stop(): Promise<void>;
}

/**
 * A heartbeat over HTTP comes to one control plane, which writes it where the node was offline. It tells all others, so that
 * each takes the node for there, and whoever leads its workspace does not write it as offline. On the bus all hear all, and
 * nothing is to be told.
 */
export function shareHeartbeats(
  messages: SharedMessages,
  hearings: ReceivedHeartbeats,
  services: HeartbeatServices,
): SharedHeartbeats {
  const { log } = services;
  let isFailing = false;
  let isStopped = false;
  let timer: NodeJS.Timeout | undefined;
  let round: Promise<void> | undefined;
  const next = (ms: number) => {
    if (!isStopped) timer = setTimeout(() => void tell(), ms).unref();
  };
  next(SEND_INTERVAL_MS);

  function tell(): Promise<void> {
    clearTimeout(timer);
    round ??= once().finally(() => {
      round = undefined;
      next(isFailing ? RETRY_MS : SEND_INTERVAL_MS);
    });
    return round;
  }

  async function once(): Promise<void> {
    try {
      // A node repeats within half a minute a report that is lost here.
      await messages.post(inMessages(hearings.take()));
      for (const text of await messages.read()) {
        for (const hearing of heartbeatsIn(text)) await take(hearing);
      }
      isFailing = false;
    } catch (error) {
      if (!isFailing)
        log.warn({ error: String(error) }, 'what nodes say over HTTP is not told to the other control planes');
      isFailing = true;
    }
  }

  async function take({ workspace, peer: uid, at, mismatch, ...said }: ReceivedHeartbeat): Promise<void> {
    const { states, liveness, clock } = services;
    if (!lookUpById((await states.current(workspace)).peers, uid)) return;
    if (mismatch !== undefined) return liveness.mismatched(workspace, uid, mismatch);
    // A clock that is ahead keeps nobody online for longer.
    applyNodeReport(services, workspace, uid, said, Math.min(at, clock.now()));
  }

  return {
    tell,
    async stop() {
      if (isStopped) return;
      isStopped = true;
      clearTimeout(timer);
      await round;
      await messages.post(inMessages(hearings.take())).catch(() => undefined);
    },
  };
}

function inMessages(hearings: readonly ReceivedHeartbeat[]): string[] {
  const texts: string[] = [];
  let lines: string[] = [];
  let size = 0;
  for (const line of hearings.map((hearing) => JSON.stringify(hearing))) {
    if (size + line.length > MAX_MESSAGE && lines.length > 0) {
      texts.push(`[${lines.join()}]`);
      [lines, size] = [[], 0];
    }
    lines.push(line);
    size += line.length;
  }
  return lines.length === 0 ? texts : [...texts, `[${lines.join()}]`];
}

/** Parses heartbeat reports; ignores those of a control plane of another version that this one cannot read. */
function heartbeatsIn(text: string): ReceivedHeartbeat[] {
  const all = z.array(z.unknown()).safeParse(parsed(text)).data ?? [];
  return all.flatMap((one) => receivedHeartbeatSchema.safeParse(one).data ?? []);
}

function parsed(json: string): unknown {
  try {
    return JSON.parse(json);
  } catch {
    return undefined;
  }
}
