import { arch, platform } from 'node:process';

/** Datagrams received and sent with one system call each way. */
const BATCH = 64;
/** Batches in one turn of the event loop, so that a flood leaves room for other work. */
const MAX_BATCHES = 16;
/** A binding request without attributes. */
const USUAL_BYTES = 20;
/** Above the longest request that is read at all, so that a longer one is seen to be too long. */
const DATAGRAM_BYTES = 1_536;
/** The longest answer is an error that names four attributes. */
const ANSWER_BYTES = 128;
const SOCKADDR_BYTES = 32;
/** struct mmsghdr, struct iovec, struct sockaddr_in and sockaddr_in6 of 64-bit Linux. */
const MMSGHDR_BYTES = 64;
const IOVEC_BYTES = 16;
const SOCKADDR_IN = { family: 2, bytes: 16, addressAt: 4, addressBytes: 4 } as const;
const SOCKADDR_IN6 = { family: 10, bytes: 28, addressAt: 8, addressBytes: 16 } as const;
const MSG_LEN_AT = 56;
const MSG_DONTWAIT = 0x40;
const EAGAIN = 11;

/** The answer to a datagram; undefined when there is none. Both may be used again after the call. */
export type Answerer = (datagram: Uint8Array, ip: Uint8Array, port: number) => Uint8Array | undefined;

/** A datagram that was read already. */
export interface First {
  readonly datagram: Uint8Array;
  /** IPv4, 4 bytes. */
  readonly ip: Uint8Array;
  readonly port: number;
}

/** Answers a datagram of a UDP socket and those that wait behind it. */
export type Drain = (fd: number, answer: Answerer, first?: First) => void;

/**
 * Receiving and sending many datagrams with one system call, through the optional package koffi.
 *
 * @returns undefined, with the reason told, where the package or the platform is missing
 */
export async function loadDrain(onMissing: (reason: string) => void): Promise<Drain | undefined> {
  if (platform !== 'linux' || (arch !== 'x64' && arch !== 'arm64')) {
    onMissing(`${platform} on ${arch} has none`);
    return undefined;
  }
  try {
    shared ??= buildDrain((await import('koffi')).default);
    return shared;
  } catch (error) {
    onMissing(error instanceof Error ? error.message : String(error));
    return undefined;
  }
}

/** One for the process: a drain runs to its end before another begins. */
let shared: Drain | undefined;

function buildDrain(koffi: typeof import('koffi').default): Drain {
  const libc = koffi.load(null);
  const receive = libc.func('int recvmmsg(int, void *, unsigned int, int, void *)');
  const send = libc.func('int sendmmsg(int, void *, unsigned int, int)');

  /** Memory that the kernel writes to; it stays for as long as the process. */
  const arena = (bytes: number) => {
    const pointer = koffi.alloc('uint8_t', bytes);
    return { at: koffi.address(pointer), bytes: new Uint8Array(koffi.view(pointer, bytes)) };
  };
  const datagrams = arena(BATCH * DATAGRAM_BYTES);
  // One more than can be received: for the datagram that was read already.
  const answers = arena((BATCH + 1) * ANSWER_BYTES);
  const sources = arena((BATCH + 1) * SOCKADDR_BYTES);
  const incoming = arena(BATCH * (MMSGHDR_BYTES + IOVEC_BYTES));
  const outgoing = arena((BATCH + 1) * (MMSGHDR_BYTES + IOVEC_BYTES));
  const incomingView = new DataView(incoming.bytes.buffer);
  const outgoingView = new DataView(outgoing.bytes.buffer);
  const sourceView = new DataView(sources.bytes.buffer);

  const sourceAt = Array.from({ length: BATCH + 1 }, (_, slot) => sources.at + BigInt(slot * SOCKADDR_BYTES));
  /** Headers come first in their memory, iovecs behind them. */
  const fill = ({ at }: typeof incoming, view: DataView, slots: number, slot: number, data: bigint, length: number) => {
    const header = slot * MMSGHDR_BYTES;
    const iovec = slots * MMSGHDR_BYTES + slot * IOVEC_BYTES;
    view.setBigUint64(iovec, data, true);
    view.setBigUint64(iovec + 8, BigInt(length), true);
    view.setBigUint64(header, sourceAt[slot] ?? 0n, true);
    view.setBigUint64(header + 16, at + BigInt(iovec), true);
    view.setBigUint64(header + 24, 1n, true);
  };
  for (let slot = 0; slot < BATCH; slot++) {
    fill(incoming, incomingView, BATCH, slot, datagrams.at + BigInt(slot * DATAGRAM_BYTES), DATAGRAM_BYTES);
  }
  for (let slot = 0; slot <= BATCH; slot++) {
    fill(outgoing, outgoingView, BATCH + 1, slot, answers.at + BigInt(slot * ANSWER_BYTES), 0);
  }

  /** Views that nearly every datagram needs, made once. */
  const views = Array.from({ length: BATCH }, (_, slot) => {
    const address = ({ addressAt, addressBytes }: typeof SOCKADDR_IN | typeof SOCKADDR_IN6) => {
      const start = slot * SOCKADDR_BYTES + addressAt;
      return sources.bytes.subarray(start, start + addressBytes);
    };
    const whole = datagrams.bytes.subarray(slot * DATAGRAM_BYTES, (slot + 1) * DATAGRAM_BYTES);
    return { whole, usual: whole.subarray(0, USUAL_BYTES), ipv4: address(SOCKADDR_IN), ipv6: address(SOCKADDR_IN6) };
  });

  /** Slots whose length of the source the kernel has overwritten. */
  let used = BATCH;
  function receiveBatch(fd: number): number {
    for (let slot = 0; slot < used; slot++) incomingView.setUint32(slot * MMSGHDR_BYTES + 8, SOCKADDR_BYTES, true);
    used = Math.max(0, receive(fd, incoming.at, BATCH, MSG_DONTWAIT, null));
    return used;
  }

  /** @returns whether an answer was put into the slot */
  function answerSlot(slot: number, out: number, answer: Answerer): boolean {
    const view = views[slot];
    const source = slot * SOCKADDR_BYTES;
    const family = sourceView.getUint16(source, true);
    const kind = family === SOCKADDR_IN.family ? SOCKADDR_IN : SOCKADDR_IN6;
    if (view === undefined || kind.family !== family) return false;
    const length = incomingView.getUint32(slot * MMSGHDR_BYTES + MSG_LEN_AT, true);
    const datagram = length === USUAL_BYTES ? view.usual : view.whole.subarray(0, length);
    const ip = kind === SOCKADDR_IN ? view.ipv4 : view.ipv6;
    return put(answer(datagram, ip, sourceView.getUint16(source + 2)), slot, out, kind.bytes);
  }

  function put(bytes: Uint8Array | undefined, slot: number, out: number, sourceBytes: number): boolean {
    if (bytes === undefined || bytes.length > ANSWER_BYTES) return false;
    answers.bytes.set(bytes, out * ANSWER_BYTES);
    const header = out * MMSGHDR_BYTES;
    outgoingView.setBigUint64(header, sourceAt[slot] ?? 0n, true);
    outgoingView.setUint32(header + 8, sourceBytes, true);
    // The upper half of the length stays zero.
    outgoingView.setUint32((BATCH + 1) * MMSGHDR_BYTES + out * IOVEC_BYTES + 8, bytes.length, true);
    return true;
  }

  function answerFirst({ datagram, ip, port }: First, answer: Answerer): boolean {
    const source = BATCH * SOCKADDR_BYTES;
    sourceView.setUint16(source, SOCKADDR_IN.family, true);
    sourceView.setUint16(source + 2, port);
    sources.bytes.set(ip, source + SOCKADDR_IN.addressAt);
    return put(answer(datagram, ip, port), BATCH, 0, SOCKADDR_IN.bytes);
  }

  /** An answer that cannot be sent concerns its asker alone; a full socket loses the rest. */
  function sendBatch(fd: number, count: number): void {
    for (let at = 0; at < count; ) {
      const sent = send(fd, outgoing.at + BigInt(at * MMSGHDR_BYTES), count - at, MSG_DONTWAIT);
      if (sent < 0 && koffi.errno() === EAGAIN) return;
      at += Math.max(1, sent);
    }
  }

  return (fd, answer, first) => {
    let out = first !== undefined && answerFirst(first, answer) ? 1 : 0;
    for (let batch = 0; batch < MAX_BATCHES; batch++) {
      const received = receiveBatch(fd);
      for (let slot = 0; slot < received; slot++) if (answerSlot(slot, out, answer)) out++;
      sendBatch(fd, out);
      // What came meanwhile costs less now than as an event of its own.
      if (received === 0) return;
      out = 0;
    }
  };
}
