import { randomBytes } from 'node:crypto';
import type { GraphMessage } from '../../core/model/graph.ts';
import { EPOCH_BYTES } from '../../net/seal/format.ts';
import { Opener } from '../../net/seal/opener.ts';
import { Sealer } from '../../net/seal/sealer.ts';
import type { KeyPair } from '../../net/seal/x25519.ts';
import { decodeGraphMessage } from '../graph-shape.ts';
import type { BusMessage } from './bus.ts';

/** Seals messages to the control plane, and opens its own. A new instance for each key of this node. */
export class ControlSeals {
  readonly #control: Uint8Array;
  readonly #sealer: Sealer;
  readonly #opener: Opener;
  /** Process that answered our last request: its messages are no recording. */
  #freshEpoch: string | undefined;

  constructor(pair: KeyPair, control: Uint8Array) {
    this.#control = control;
    this.#sealer = new Sealer(pair, randomBytes(EPOCH_BYTES));
    this.#opener = new Opener(pair, (sender) => Buffer.compare(sender, control) === 0);
  }

  request(subject: string, content: object): Uint8Array {
    const sealed = this.#sealer.seal('request', this.#control, subject, Buffer.from(JSON.stringify(content)));
    if (!sealed) throw new RangeError('the request does not fit a message of the bus');
    return sealed;
  }

  /** The answer to a request. Its subject was drawn at random for it, so it is no recording. */
  openReply({ subject, data }: BusMessage): unknown {
    const opened = this.#opener.open('reply', subject, data);
    if (!opened.ok) return undefined;
    this.#freshEpoch = opened.epochId;
    try {
      return JSON.parse(Buffer.from(opened.plaintext).toString());
    } catch {
      return undefined;
    }
  }

  /** Undefined for what is not from the control plane, or was seen before. */
  openGraph({ subject, data }: BusMessage): { readonly message: GraphMessage; readonly isFresh: boolean } | undefined {
    const opened = this.#opener.open('graph', subject, data);
    if (!opened.ok) return undefined;
    const message = decodeGraphMessage(opened.plaintext);
    if (!message) return undefined;
    const isFresh = opened.epoch === 'proven' || opened.epochId === this.#freshEpoch;
    if (isFresh) this.#opener.prove(opened);
    return { message, isFresh };
  }
}
