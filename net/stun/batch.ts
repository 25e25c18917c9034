import { type DatagramBatch, openDatagramBatch } from '../datagram-batch.ts';
import { targetOf } from '../sockaddr.ts';

/** Above the longest request that is read at all, so that a longer one is seen to be too long. */
const DATAGRAM_BYTES = 1_536;
/** Batches in one turn of the event loop, so that a flood leaves room for other work. */
const MAX_BATCHES = 16;

/** The answer to a datagram; undefined when there is none. Both may be used again after the call. */
export type Answerer = (datagram: Uint8Array, ip: Uint8Array, port: number) => Uint8Array | undefined;

/** A datagram that was read already. */
export interface First {
  readonly datagram: Uint8Array;
  /** 4 or 16 bytes. */
  readonly ip: Uint8Array;
  readonly port: number;
}

/** Answers a datagram of a UDP socket and those that wait behind it. */
export type Drain = (fd: number, answer: Answerer, first?: First) => void;

/** @returns undefined, with the reason told, where many datagrams cannot be handled with one system call */
export async function loadDrain(onMissing: (reason: string) => void): Promise<Drain | undefined> {
  shared ??= await openDatagramBatch(DATAGRAM_BYTES, onMissing);
  return shared && drainOf(shared);
}

/** One for the process: a drain runs to its end before another begins. */
let shared: DatagramBatch | undefined;

function drainOf(batch: DatagramBatch): Drain {
  return (fd, answer, first) => {
    const answered = first && answer(first.datagram, first.ip, first.port);
    if (answered) batch.put(answered, targetOf(first.ip, first.port));
    for (let round = 0; round < MAX_BATCHES; round++) {
      const received = batch.receive(fd);
      for (let slot = 0; slot < received; slot++) {
        const bytes = answer(batch.datagram(slot), batch.sourceAddress(slot), batch.sourcePort(slot));
        if (bytes) batch.put(bytes, batch.source(slot));
      }
      batch.send(fd);
      // What came meanwhile costs less now than as an event of its own.
      if (received === 0) return;
    }
  };
}
