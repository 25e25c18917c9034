import { SourceLimit } from '../stun/rate.ts';
import { CONTROL_PACE, PACED_BYTES, type Pace, SIGNAL_PACE } from './limits.ts';

/** Messages that cost their receiver work before it knows whether they are forged. */
export type PacedKind = 'control' | 'signal';

const CONTROL = /^mesh\.control\./;
const SIGNAL = /^mesh\.[^.]+\.[^.]+\.signal$/;
/** The inbox of a node, which is named after its peer; the control plane alone has something to send there. */
const INBOX = /^(_INBOX\.p_[a-z2-7]{26})\./;

export function pacedKindOf(subject: string): PacedKind | undefined {
  if (CONTROL.test(subject)) return 'control';
  return SIGNAL.test(subject) || INBOX.test(subject) ? 'signal' : undefined;
}

/** A connection and whose it is: a node that proved who it is, or some stranger at an address. */
interface Sender {
  readonly id: number;
  readonly source: { readonly name: string; readonly node: string | undefined };
}

/** Holds everyone to a rate of such messages, so that whoever forges many does not crowd out the real ones. */
export class Paces {
  readonly #paces = { control: limitsOf(CONTROL_PACE), signal: limitsOf(SIGNAL_PACE) };

  /** True if a message of that many bytes is within its rate. */
  admit({ source, id }: Sender, paced: PacedKind, subject: string, bytes: number, now: number): boolean {
    const limits = this.#paces[paced];
    const cost = Math.ceil((bytes + 1) / PACED_BYTES);
    // Messages to a node are counted by receiver, whatever the rest of an inbox is called; requests are counted together.
    const to = paced === 'signal' ? (INBOX.exec(subject)?.[1] ?? subject) : '';
    if (source.node !== undefined) return limits.node.take(`${source.name} ${to}`, now, cost);
    // The narrowest first: what one of them sends too much must not use up what others have.
    return (
      limits.stranger.take(`${id} ${to}`, now, cost) &&
      limits.address.take(`${source.name} ${to}`, now, cost) &&
      limits.strangers.take(to, now, cost)
    );
  }
}

type Senders = 'node' | 'stranger' | 'address' | 'strangers';

function limitsOf(paces: Readonly<Record<Senders, Pace>>): Readonly<Record<Senders, SourceLimit>> {
  const of = ({ perSecond, burst }: Pace) => new SourceLimit(perSecond, burst);
  return {
    node: of(paces.node),
    stranger: of(paces.stranger),
    address: of(paces.address),
    strangers: of(paces.strangers),
  };
}
