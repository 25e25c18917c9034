import type { Streams } from '../streams.ts';
import { loadDirectSend, sendDirect } from './direct-send.ts';
import { readShared } from './shared-reads.ts';

export const linuxStreams: Streams = { read: readShared, writeNow: sendDirect, expectLoad: loadDirectSend };
