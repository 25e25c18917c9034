import { commonWire } from '../../core/model/wire.ts';
import type { PlaneApi } from '../enrol/plane-api.ts';
import type { PlaneBus } from './plane-bus.ts';

/** Payload of a heartbeat; `taken` once it arrived. */
export interface HeartbeatReport {
  readonly content: object;
  taken(): void;
}

/** Answer of the control plane; `checkpoint`: of the audit log, where it has one that this node may not know. */
export type HeartbeatAnswer = {
  readonly checkpoint: string | null;
} /** The version of the graph that it sent to this node last, null when it sent none; and its mark of it. */ & (
  | { readonly by: 'bus'; readonly version: number | null; readonly mark?: string }
  /** True when the network has changed since the last answer over HTTP. */
  | { readonly by: 'http'; readonly hasChanged: boolean }
);

/** Heartbeats from one whole report to the next, some 10 minutes: a control plane that was restarted has forgotten them. */
const REPORT_ALL_EVERY = 40;

/** Heartbeats on the bus after which another machine that showed itself no more counts as gone. */
const GONE_AFTER = 6;

/** Heartbeats over the bus, and over HTTP where the bus does not answer. */
export class Heartbeats {
  readonly #bus: Pick<PlaneBus, 'isUp' | 'beat'>;
  readonly #api: Pick<PlaneApi, 'heartbeat' | 'wire'>;
  readonly #reportOf: ((all: boolean) => HeartbeatReport) | undefined;
  #count = 0;
  /** Heartbeats since the last one of whose process the control plane said that another took its place. */
  #sinceSuperseded = GONE_AFTER;
  /** Revision that HTTP heartbeats named last. */
  #httpVersion: number | undefined;
  #wire: number | undefined;

  /** @param reportOf what changed, or all of it */
  constructor(
    bus: Pick<PlaneBus, 'isUp' | 'beat'>,
    api: Pick<PlaneApi, 'heartbeat' | 'wire'>,
    reportOf: ((all: boolean) => HeartbeatReport) | undefined,
  ) {
    this.#bus = bus;
    this.#api = api;
    this.#reportOf = reportOf;
  }

  /**
   * Two machines have the key of this node: each takes the place of the other at the control plane, which says so. That it
   * does not know this process says nothing: so it is after each start of either.
   */
  get isKeyShared(): boolean {
    return this.#sinceSuperseded < GONE_AFTER;
  }

  /** The version of the wire that is spoken with who answered the last heartbeat; undefined before it. */
  get wire(): number | undefined {
    return this.#wire;
  }

  /** @param mark of the graph that is held @throws PlaneRefusal or PlaneAway */
  async beat(mark?: string): Promise<HeartbeatAnswer> {
    return (this.#bus.isUp ? await this.#byBus(mark) : undefined) ?? this.#byHttp();
  }

  /** @returns undefined where the bus gave no answer */
  async #byBus(mark?: string): Promise<HeartbeatAnswer | undefined> {
    const held = mark !== undefined && { mark };
    let report = this.#report(false);
    let answer = await this.#bus.beat({ ...report.content, ...held });
    if (answer) this.#sinceSuperseded = answer.superseded ? 0 : this.#sinceSuperseded + 1;
    if (answer?.challenge !== undefined) {
      // It does not know this process yet, or is a new one itself: it is told everything.
      report = this.#report(true);
      answer = await this.#bus.beat({ ...report.content, ...held, echo: answer.challenge });
    }
    if (answer?.version === undefined) return undefined;
    report.taken();
    this.#wire = commonWire(answer.wire);
    const next = answer.mark !== undefined && { mark: answer.mark };
    return { by: 'bus', version: answer.version, ...next, checkpoint: answer.checkpoint ?? null };
  }

  async #byHttp(): Promise<HeartbeatAnswer> {
    const report = this.#report(false);
    const { version, checkpoint = null } = await this.#api.heartbeat(report.content);
    report.taken();
    this.#wire = this.#api.wire;
    const hasChanged = this.#httpVersion !== undefined && this.#httpVersion !== version;
    this.#httpVersion = version;
    return { by: 'http', hasChanged, checkpoint };
  }

  #report(all: boolean): HeartbeatReport {
    const isTurn = this.#count++ % REPORT_ALL_EVERY === 0;
    return this.#reportOf?.(all || isTurn) ?? { content: {}, taken: () => {} };
  }
}

/** The version of the software, which stays as it is while it runs. */
export function versionReport(version: string, all: boolean): HeartbeatReport {
  return { content: all ? { version } : {}, taken: () => {} };
}

/** Merges payloads of several sources. */
export function joined(reports: readonly HeartbeatReport[]): HeartbeatReport {
  return {
    content: Object.assign({}, ...reports.map(({ content }) => content)),
    taken() {
      for (const report of reports) report.taken();
    },
  };
}
