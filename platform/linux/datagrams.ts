import type { Datagrams } from '../datagrams.ts';
import { BurstSocket } from './burst-socket.ts';
import { openDrainedSocket } from './drained-socket.ts';

/** Many datagrams with one system call each way. */
export const linuxDatagrams: Datagrams = {
  open: (options) =>
    options.maxBytes === 'coalesced' ? BurstSocket.open(options) : openDrainedSocket(options, options.maxBytes),
};
