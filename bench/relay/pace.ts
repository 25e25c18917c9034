import { monitorEventLoopDelay } from 'node:perf_hooks';
import { type Address, type Dialect, type Member, PAYLOAD_BYTES, RELAY, TURN } from './channels.ts';
import { Histogram } from './histogram.ts';

/**
 * One end of a latency measurement in a process of its own, told what to do by messages: `receive` counts how long packets
 * took, `send` sends them evenly. Every packet carries when it was written, by the clock that all processes share.
 */
export type Order =
  | { readonly do: 'join'; readonly as: Dialect['name']; readonly port: number; readonly count: number }
  | { readonly do: 'admit'; readonly sender: Address }
  | { readonly do: 'aim'; readonly receivers: readonly Address[] }
  | { readonly do: 'send'; readonly perSecond: number; readonly seconds: number }
  | { readonly do: 'collect' };

export interface Answers {
  readonly join: readonly Address[];
  readonly admit: true;
  readonly aim: true;
  /** How late slots were, 99th percentile in milliseconds, and the packets sent. */
  readonly send: { readonly lateMs: number; readonly packets: number };
  /** Percentiles since the last time, in milliseconds: of the packets, and of the loop that took their times. */
  readonly collect: {
    readonly p50: number;
    readonly p99: number;
    readonly loopMs: number;
    readonly packets: number;
  };
}

/** Between two writes of the sender. */
const SLOT_MS = 0.25;
/** A sender that was late catches up with no more than this at once. */
const MAX_SLOTS_AT_ONCE = 4;
const STAMP_BYTES = 8;
const LOOP_RESOLUTION_MS = 1;

/** CLOCK_MONOTONIC in milliseconds: the same in every process of a machine. */
const CLOCK_OFFSET = Number(process.hrtime.bigint()) / 1e6 - performance.now();
const clock = () => performance.now() + CLOCK_OFFSET;

const took = new Histogram();
const loop = monitorEventLoopDelay({ resolution: LOOP_RESOLUTION_MS });
let dialect: Dialect = RELAY;
let members: readonly Member[] = [];
let frames: readonly Uint8Array[] = [];
let packets = 0;

process.on('message', async (order: Order) => {
  process.send?.(await obey(order));
});
process.on('disconnect', () => process.exit(0));

async function obey(order: Order): Promise<Answers[Order['do']]> {
  switch (order.do) {
    case 'join':
      dialect = order.as === 'mesh' ? RELAY : TURN;
      members = await Promise.all(Array.from({ length: order.count }, () => dialect.join(order.port)));
      return members.map(({ address }) => address);
    case 'admit':
      for (const member of members) await member.admit(order.sender);
      for (const { node } of members) node.onBytes = stampReader();
      loop.enable();
      return true;
    case 'aim':
      frames = (await members[0]?.aim(order.receivers)) ?? [];
      return true;
    case 'send':
      return send(order.perSecond, order.seconds);
    case 'collect':
      return collect();
    default:
      return order satisfies never;
  }
}

/** Finds the stamps in one receiver's stream. A stamp that two reads share is left out. */
function stampReader(): (bytes: Uint8Array) => void {
  const frameBytes = dialect.payloadAt + PAYLOAD_BYTES;
  let until = dialect.payloadAt;
  return (bytes) => {
    const now = clock();
    const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
    for (; until < bytes.length; until += frameBytes) {
      packets++;
      if (until >= 0 && until + STAMP_BYTES <= bytes.length) took.add(now - view.getFloat64(until));
    }
    until -= bytes.length;
  };
}

/** Sleeps between slots, so that the server has the processor; a slot sends what is due to all receivers, one by one. */
async function send(perSecond: number, seconds: number): Promise<Answers['send']> {
  const [member] = members;
  if (member === undefined) return { lateMs: 0, packets: 0 };
  const { socket } = member.node;
  const roundsASlot = ((perSecond / frames.length) * SLOT_MS) / 1_000;
  const maxRounds = Math.ceil(roundsASlot) * MAX_SLOTS_AT_ONCE;
  const batch = Buffer.concat(Array.from({ length: maxRounds }, () => frames).flat());
  const view = new DataView(batch.buffer, batch.byteOffset, batch.length);
  const frameBytes = batch.length / (maxRounds * frames.length);
  const bell = new Int32Array(new SharedArrayBuffer(4));
  const late = new Histogram();
  const start = clock();
  let sentRounds = 0;
  for (let slot = 1; slot * SLOT_MS < seconds * 1_000; slot++) {
    const at = start + slot * SLOT_MS;
    const early = at - clock();
    if (early > 0) Atomics.wait(bell, 0, 0, early);
    await new Promise(setImmediate);
    // The batch is free for new stamps only when the kernel has taken the last one.
    if (socket.writableLength > 0) continue;
    const now = clock();
    late.add(now - at);
    const rounds = Math.min(maxRounds, Math.floor(slot * roundsASlot) - sentRounds);
    if (rounds <= 0) continue;
    for (let n = 0; n < rounds * frames.length; n++) view.setFloat64(n * frameBytes + dialect.payloadAt, now);
    socket.write(batch.subarray(0, rounds * frames.length * frameBytes));
    sentRounds += rounds;
  }
  return { lateMs: late.at(0.99), packets: sentRounds * frames.length };
}

function collect(): Answers['collect'] {
  const answer = {
    p50: took.at(0.5),
    p99: took.at(0.99),
    loopMs: Math.max(0, loop.percentile(99) / 1e6 - LOOP_RESOLUTION_MS),
    packets,
  };
  took.clear();
  loop.reset();
  packets = 0;
  return answer;
}
