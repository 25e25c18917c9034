import type { PlaneApi } from '../enrol/plane-api.ts';
import type { PlaneBus } from './plane-bus.ts';

/** What a heartbeat says beside being one; `taken` once it arrived. */
export interface HeartbeatReport {
  readonly content: object;
  taken(): void;
}

/** What the control plane answered. */
export type HeartbeatAnswer =
  /** The version of the graph that it sent to this node last; null when it sent none. */
  | { readonly by: 'bus'; readonly version: number | null }
  /** Whether the network has changed since the last answer over HTTP. */
  | { readonly by: 'http'; readonly hasChanged: boolean };

/** Heartbeats from one whole report to the next: a control plane that was restarted has forgotten them. */
const REPORT_ALL_EVERY = 20;

/** Heartbeats over the bus, and over HTTP where the bus does not answer. */
export class Heartbeats {
  readonly #bus: Pick<PlaneBus, 'isUp' | 'beat'>;
  readonly #api: Pick<PlaneApi, 'heartbeat'>;
  readonly #reportOf: ((all: boolean) => HeartbeatReport) | undefined;
  #count = 0;
  /** Revision that HTTP heartbeats named last. */
  #httpVersion: number | undefined;

  /** @param reportOf what changed, or all of it */
  constructor(
    bus: Pick<PlaneBus, 'isUp' | 'beat'>,
    api: Pick<PlaneApi, 'heartbeat'>,
    reportOf: ((all: boolean) => HeartbeatReport) | undefined,
  ) {
    this.#bus = bus;
    this.#api = api;
    this.#reportOf = reportOf;
  }

  /** @throws PlaneRefusal or PlaneAway */
  async beat(): Promise<HeartbeatAnswer> {
    const version = this.#bus.isUp ? await this.#byBus() : undefined;
    return version === undefined ? this.#byHttp() : { by: 'bus', version };
  }

  /** @returns undefined where the bus gave no answer */
  async #byBus(): Promise<number | null | undefined> {
    let report = this.#report(false);
    let answer = await this.#bus.beat(report.content);
    if (answer?.challenge !== undefined) {
      // It does not know this process yet, or is a new one itself: it is told everything.
      report = this.#report(true);
      answer = await this.#bus.beat({ ...report.content, echo: answer.challenge });
    }
    if (answer?.version !== undefined) report.taken();
    return answer?.version;
  }

  async #byHttp(): Promise<HeartbeatAnswer> {
    const report = this.#report(false);
    const { version } = await this.#api.heartbeat(report.content);
    report.taken();
    const hasChanged = this.#httpVersion !== undefined && this.#httpVersion !== version;
    this.#httpVersion = version;
    return { by: 'http', hasChanged };
  }

  #report(all: boolean): HeartbeatReport {
    const isTurn = this.#count++ % REPORT_ALL_EVERY === 0;
    return this.#reportOf?.(all || isTurn) ?? { content: {}, taken: () => {} };
  }
}
