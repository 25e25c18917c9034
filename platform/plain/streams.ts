import type { Streams } from '../streams.ts';

/** A buffer of its own for each read. */
export const plainStreams: Streams = {
  read(accepted, _buffer, onBytes) {
    accepted.on('data', onBytes);
    accepted.resume();
    return accepted;
  },
};
