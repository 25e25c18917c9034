import { type Channels, PAYLOAD_BYTES } from './channels.ts';

/** Packets on the way to one receiver at once: far below any queue, so that only a stalled server loses some. */
const WINDOW_EACH = 24;
/** Rounds over all receivers that one write of the sender holds. */
const ROUNDS_A_WRITE = 4;
/** No progress for this long: what is on the way counts as lost. */
const STALL_MS = 50;

export interface Flooded {
  readonly packets: number;
  readonly lost: number;
  readonly seconds: number;
}

/** Keeps the window full for a while; packets to the receivers are interleaved one by one. `frozen` reads nothing. */
export async function flood(channels: Channels, seconds: number, frozen?: number): Promise<Flooded> {
  const { sender, frames, frameBytes } = channels;
  const readers = channels.receivers.filter((_, n) => n !== frozen);
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

/** Megabits of payload. */
export function megabits(packets: number): number {
  return (packets * PAYLOAD_BYTES * 8) / 1e6;
}
