import type { Streams } from '../streams.ts';

/** A buffer of its own for each read, and every write through the stream. */
export const plainStreams: Streams = {
  read(accepted, _buffer, onBytes) {
    accepted.on('data', onBytes);
    accepted.resume();
    return accepted;
  },
  writeNow: () => 0,
  expectLoad: () => Promise.resolve(),
};
