import type { Streams } from '../streams.ts';
import { readShared } from './shared-reads.ts';

export const linuxStreams: Streams = { read: readShared };
