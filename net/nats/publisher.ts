import { bytesOf, latin1 } from './bytes.ts';
import type { Delivery } from './commands.ts';
import { frameTail, withoutHeaders } from './frame.ts';
import { RELIEF_BYTES, SHARED_BUFFER_BYTES, STALL_PENDING_BYTES } from './limits.ts';
import type { Metrics } from './metrics.ts';
import type { Paces } from './paces.ts';
import { mayNameReply, mayPublish, mayReceive, OPEN_PERMISSIONS } from './permissions.ts';
import type { Route, Router, Target } from './router.ts';
import type { Hub, Session, Subscription } from './session.ts';
import { SharedBuffer } from './shared-buffer.ts';
import type { Publication } from './sink.ts';
import type { Stalls } from './stalls.ts';
import { isLiteralSubject } from './subject.ts';

const NO_RESPONDERS = bytesOf('16 16\r\nNATS/1.0 503\r\n\r\n\r\n');

export interface PublisherParts {
  readonly hub: Hub;
  readonly router: Router<Subscription>;
  readonly stalls: Stalls;
  readonly dice: Xorshift32;
  readonly paces: Paces;
  /** Takes a message for the control plane. */
  readonly handOver: (session: Session, delivery: Delivery) => void;
  /** Called in the midst of a large fan-out. */
  readonly relieve: () => void;
}

/** The path of a message from its publisher to everyone who may have it: the broker's hot path. */
export class Publisher {
  readonly #hub: Hub;
  readonly #metrics: Metrics;
  readonly #router: Router<Subscription>;
  readonly #stalls: Stalls;
  readonly #dice: Xorshift32;
  readonly #paces: Paces;
  readonly #pass: PublisherParts['handOver'];
  readonly #relieve: () => void;
  #shared: SharedBuffer;

  constructor({ hub, router, stalls, dice, paces, handOver, relieve }: PublisherParts) {
    this.#hub = hub;
    this.#metrics = hub.metrics;
    this.#router = router;
    this.#stalls = stalls;
    this.#dice = dice;
    this.#paces = paces;
    this.#pass = handOver;
    this.#relieve = relieve;
    this.#shared = new SharedBuffer(hub.pool);
  }

  publish(from: Session, publication: Publication): void {
    const { buffer, subjectStart, subjectEnd } = publication;
    this.#metrics.received_messages_total++;
    const route = this.#router.route(buffer, subjectStart, subjectEnd, publication.hash);
    if (!this.#isPermitted(from, route, publication)) return;
    if (from.options.pedantic && !isLiteralSubject(route.subject)) from.error('Invalid Publish Subject');
    from.acknowledge();
    if (route.paced !== undefined && !this.#isInPace(from, route, publication)) return;

    const tail = frameTail(publication);
    const headed = publication.headerSize > 0;
    let delivered = 0;
    const plain = route.plain;
    const shared = plain.length >= this.#hub.limits.sharedFrom ? this.#share(tail) : undefined;
    for (let at = 0; at < plain.length; at++) {
      const target = plain[at] as Target<Subscription>;
      if (this.#deliver(from, route, target, tail, shared, headed, publication)) delivered++;
    }
    for (const group of route.queues) {
      if (this.#deliverToOne(from, route, group, tail, headed, publication)) delivered++;
    }
    this.#metrics.sent_messages_total += delivered;
    if (delivered === 0 && from.options.noResponders && publication.replyStart !== publication.replyEnd) {
      this.#answerNoResponders(from, publication);
    }
  }

  #isPermitted(from: Session, route: Route<Subscription>, publication: Publication): boolean {
    if (from.internal) return true;
    const { permissions } = from;
    if (route.judgedFor !== permissions) {
      route.judgedFor = permissions;
      route.mayPublish = mayPublish(permissions, route.subject);
    }
    if (!route.mayPublish) {
      this.#metrics.permission_violations_total++;
      from.error(`Permissions Violation for Publish to "${route.subject}"`);
      return false;
    }
    const { buffer, replyStart, replyEnd } = publication;
    if (replyStart === replyEnd) return true;
    // 'm' begins every subject the open bus guards; with a credential all replies are judged.
    if (permissions === OPEN_PERMISSIONS && buffer[replyStart] !== 0x6d) return true;
    const reply = latin1(buffer, replyStart, replyEnd);
    if (mayNameReply(permissions, reply)) return true;
    this.#metrics.permission_violations_total++;
    from.error(`Permissions Violation for Publish with Reply of "${reply}"`);
    return false;
  }

  /** True if a message is within its rate. One beyond it is dropped without an error: an honest sender tries again. */
  #isInPace(from: Session, { paced, subject }: Route<Subscription>, publication: Publication): boolean {
    const bytes = publication.payloadEnd - publication.payloadStart;
    if (from.internal || paced === undefined || this.#paces.admit(from, paced, subject, bytes, this.#hub.now))
      return true;
    this.#metrics.paced_messages_dropped_total++;
    return false;
  }

  #deliver(
    from: Session,
    route: Route<Subscription>,
    target: Target<Subscription>,
    tail: Uint8Array,
    shared: SharedBuffer | undefined,
    headed: boolean,
    publication: Publication,
  ): boolean {
    const { subscription } = target;
    const to = subscription.session;
    if (!subscription.open || (to === from && !from.options.echo)) return false;
    if (subscription.filtered && !mayReceive(to.permissions, route.subject)) return false;
    subscription.delivered++;
    if (to.internal) this.#handOver(from, route, subscription, publication);
    else {
      if (headed && !to.options.headers) to.write(target.msg, withoutHeaders(publication));
      else if (shared !== undefined && to.inFlight === 0) to.note(shared, headed ? target.hmsg : target.msg);
      else to.write(headed ? target.hmsg : target.msg, tail);
      if (to.inFlight > 0 && to.pending > STALL_PENDING_BYTES) this.#hold(from, to);
      if (this.#hub.fresh > RELIEF_BYTES) this.#relieve();
    }
    if (subscription.max > 0 && subscription.delivered >= subscription.max) to.remove(subscription);
    return true;
  }

  /** Keeps a frame once for all its receivers, as long as they can be relied upon to take it soon. */
  #share(tail: Uint8Array): SharedBuffer | undefined {
    if (tail.length > SHARED_BUFFER_BYTES || this.#hub.crowded) return undefined;
    if (!this.#shared.fits(tail)) this.#relieve();
    if (!this.#shared.fits(tail)) this.#shared = new SharedBuffer(this.#hub.pool);
    this.#shared.put(tail);
    this.#hub.fresh += tail.length;
    return this.#shared;
  }

  /** Delivers to one member of a queue group, at random, and to the next one if that one must not have the message. */
  #deliverToOne(
    from: Session,
    route: Route<Subscription>,
    group: readonly Target<Subscription>[],
    tail: Uint8Array,
    headed: boolean,
    publication: Publication,
  ): boolean {
    const first = this.#dice.roll(group.length);
    for (let turn = 0; turn < group.length; turn++) {
      const target = group[(first + turn) % group.length] as Target<Subscription>;
      if (this.#deliver(from, route, target, tail, undefined, headed, publication)) return true;
    }
    return false;
  }

  #handOver(from: Session, route: Route<Subscription>, { sid, session }: Subscription, publication: Publication): void {
    const { buffer, replyStart, replyEnd, payloadStart, payloadEnd, headerSize } = publication;
    const bodyStart = payloadStart + headerSize;
    this.#metrics.control_messages_total++;
    const delivery: Delivery = {
      sid,
      subject: route.subject,
      reply: replyStart === replyEnd ? undefined : latin1(buffer, replyStart, replyEnd),
      headers: headerSize === 0 ? undefined : new Uint8Array(buffer.subarray(payloadStart, bodyStart)),
      payload: new Uint8Array(buffer.subarray(bodyStart, payloadEnd)),
      from: from.source.node,
      connection: from.id,
    };
    this.#pass(session, delivery);
  }

  #answerNoResponders(from: Session, { buffer, replyStart, replyEnd }: Publication): void {
    const route = this.#router.routeOf(latin1(buffer, replyStart, replyEnd));
    const own = route.plain.find(({ subscription }) => subscription.session === from && subscription.open);
    if (own === undefined) return;
    this.#metrics.no_responders_total++;
    from.write(own.hmsg, NO_RESPONDERS);
  }

  #hold(from: Session, to: Session): void {
    if (this.#stalls.hold(from, to, this.#hub.now)) this.#metrics.publisher_stalls_total++;
  }
}

/** xorshift32: spreads queue groups without asking the system for randomness. Not for secrets. */
export class Xorshift32 {
  #state: number;

  constructor(seed: string) {
    let state = 7;
    for (let at = 0; at < seed.length; at++) state = (state * 31 + seed.charCodeAt(at)) | 0;
    this.#state = (state | 1) >>> 0;
  }

  /** A number from 0 up to, but not including, `sides`. */
  roll(sides: number): number {
    let x = this.#state;
    x ^= x << 13;
    x ^= x >>> 17;
    x ^= x << 5;
    this.#state = x >>> 0;
    return this.#state % sides;
  }
}
