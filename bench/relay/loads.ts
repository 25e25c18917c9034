import { type Lanes, PAYLOAD_BYTES } from './lanes.ts';

/** Packets on the way to one receiver at once: far below any queue, so that only a stalled server loses some. */
const WINDOW_EACH = 24;
/** Rounds over all receivers that one write of the sender holds. */
const ROUNDS_A_WRITE = 4;
/** No progress for this long: what is on the way counts as lost. */
const STALL_MS = 50;

/** A generator that was late sends no more than this at once. */
const MAX_ROUNDS_A_TICK = 64;

export interface Flooded {
  readonly packets: number;
  readonly lost: number;
  readonly seconds: number;
}

/** Keeps the window full for a while; packets to the receivers are interleaved one by one. `frozen` reads nothing. */
export async function flood(lanes: Lanes, seconds: number, frozen?: number): Promise<Flooded> {
  const { sender, frames, frameBytes } = lanes;
  const readers = lanes.receivers.filter((_, n) => n !== frozen);
  const batch = Buffer.concat(Array.from({ length: ROUNDS_A_WRITE }, () => frames).flat());
  const batchPackets = readers.length * ROUNDS_A_WRITE;
  const window = readers.length * WINDOW_EACH;
  const base = readers.reduce((sum, { bytes }) => sum + bytes, 0);
  let received = 0;
  let sent = 0;
  let lost = 0;
  let isRunning = true;

  const pump = () => {
    while (isRunning && !sender.writableNeedDrain && sent - lost - received <= window - batchPackets) {
      sender.write(batch);
      sent += batchPackets;
    }
  };
  const count = () => {
    received = Math.floor((readers.reduce((sum, { bytes }) => sum + bytes, 0) - base) / frameBytes);
  };
  for (const reader of readers) {
    reader.onBytes = () => {
      count();
      pump();
    };
  }
  sender.on('drain', pump);
  let last = -1;
  const watch = setInterval(() => {
    if (received === last) lost = sent - received;
    last = received;
    pump();
  }, STALL_MS);
  const start = performance.now();
  pump();
  await new Promise((resolve) => setTimeout(resolve, seconds * 1_000));
  count();
  const packets = received;
  const took = (performance.now() - start) / 1_000;
  isRunning = false;
  for (let wait = 0; wait < 20 && received < sent; wait++) {
    await new Promise((resolve) => setTimeout(resolve, 10));
    count();
  }
  clearInterval(watch);
  sender.off('drain', pump);
  for (const reader of readers) reader.onBytes = () => {};
  return { packets, lost: sent - received, seconds: took };
}

/** Sends evenly at a rate, a little every millisecond. @returns the 99th percentile in milliseconds */
export async function p99At(lanes: Lanes, perSecond: number, seconds: number): Promise<number> {
  const { sender, receivers, frames, frameBytes } = lanes;
  // A round is one packet to each receiver, so the n-th packet of every receiver left at the same moment.
  const roundBytes = frameBytes * frames.length;
  const batch = Buffer.concat(Array.from({ length: MAX_ROUNDS_A_TICK }, () => frames).flat());
  const sentAt: number[] = [];
  const took: number[] = [];
  for (const reader of receivers) {
    const base = reader.bytes;
    let seen = 0;
    reader.onBytes = () => {
      const now = performance.now();
      for (const total = Math.floor((reader.bytes - base) / frameBytes); seen < total; seen++) {
        took.push(now - (sentAt[seen] ?? now));
      }
    };
  }
  const start = performance.now();
  await new Promise<void>((resolve) => {
    const timer = setInterval(() => {
      const now = performance.now();
      if (now - start >= seconds * 1_000) {
        clearInterval(timer);
        setTimeout(resolve, 200);
        return;
      }
      const due = Math.floor((((now - start) / 1_000) * perSecond) / frames.length) - sentAt.length;
      const rounds = Math.min(MAX_ROUNDS_A_TICK, due);
      for (let n = 0; n < rounds; n++) sentAt.push(now);
      if (rounds > 0) sender.write(batch.subarray(0, rounds * roundBytes));
    }, 1);
  });
  for (const reader of receivers) reader.onBytes = () => {};
  took.sort((a, b) => a - b);
  return took[Math.floor(took.length * 0.99)] ?? Number.POSITIVE_INFINITY;
}

/** Megabits of payload. */
export function megabits(packets: number): number {
  return (packets * PAYLOAD_BYTES * 8) / 1e6;
}
